"""The paper's table of techniques: US, SS, US with IEC, SS with IEC, and the last against US.

    python -m experiments.techniques options.checkpoint=runs/train deals=1024

All rows are played on the same deals. The result has `rows` by name, each with what
`experiments.evaluate` says of a match and, but for the first and the last row, `over_us`: the
difference to US on the same deals; and `interrupted`.
"""

import sys
from dataclasses import dataclass, field
from typing import Any

from experiments.cli import command, finish
from experiments.comparison import Comparison, Pairing, compare
from experiments.results import points, print_table
from experiments.settings import PlaySettings
from gongzhu_jax import players
from gongzhu_jax.players import Player

UNIFORM, STRATIFIED = {"scenarios.stratified": False}, {"scenarios.stratified": True}
PLAIN, IEC = {"weights.rule": "none"}, {"weights.rule": "iec"}
TECHNIQUES = {
    "US": UNIFORM | PLAIN,
    "SS": STRATIFIED | PLAIN,
    "US with IEC": UNIFORM | IEC,
    "SS with IEC": STRATIFIED | IEC,
}
HEAD_TO_HEAD = "SS with IEC (against US)"
PAPER = {  # points, win rate, draw rate
    "US": ("59.6 ± 3.3", "62.2 (+2.8) %"),
    "SS": ("59.7 ± 3.3", "64.4 (+2.0) %"),
    "US with IEC": ("54.5 ± 4.7", "-"),
    "SS with IEC": ("73.9 ± 3.3", "67.7 (+2.5) %"),
    HEAD_TO_HEAD: ("15.5 ± 4.1", "53.5 (+3.3) %"),
}


@dataclass(frozen=True, kw_only=True)
class TechniquesSettings(PlaySettings):
    options: dict[str, Any] = field(default_factory=dict)


def make_players(options: dict[str, Any]) -> dict[str, Player]:
    """The players of the table; `options` apply to all of them."""
    return {name: players.make("scrofa", **options | own) for name, own in TECHNIQUES.items()}


@command("techniques", TechniquesSettings)
def main(settings: TechniquesSettings, line: str) -> int:
    made = make_players(settings.options)
    pairings = [Pairing(name, player, players.make("greed")) for name, player in made.items()]
    pairings.append(Pairing(HEAD_TO_HEAD, made["SS with IEC"], made["US"]))
    comparison = compare(pairings, settings)
    result = {"rows": summaries(comparison), "interrupted": comparison.interrupted}
    print_table(
        "points over two Mr. Greeds, or over US", [_row(*item) for item in result["rows"].items()]
    )
    return finish("techniques", result, settings, line)


def summaries(comparison: Comparison) -> dict[str, dict[str, Any]]:
    """Each row as plain types."""
    found = {name: dict(row) for name, row in comparison.rows.items()}
    for name, row in found.items():
        if name not in ("US", HEAD_TO_HEAD):
            row["over_us"] = comparison.difference(name, "US").summary()
    return found


def _row(name: str, row: dict[str, Any]) -> dict[str, str]:
    published, rates = PAPER[name]
    over = row.get("over_us")
    return {
        "technique": name,
        "points": points(row),
        "won (+drawn)": f"{row['win_rate']:.1%} (+{row['draw_rate']:.1%})",
        "more than US": points(over) if over else "",
        "paper": published,
        "paper won": rates,
        "games/s": f"{row['games_per_second']:.1f}",
    }


if __name__ == "__main__":
    sys.exit(main())
