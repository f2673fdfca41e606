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
from experiments.progress import progress
from experiments.results import print_table
from experiments.settings import PlaySettings
from gongzhu_jax import players
from gongzhu_jax.evaluation import MatchResult, paired_difference, play_match
from gongzhu_jax.players import Player

UNIFORM, STRATIFIED = {"sampler": "uniform"}, {"sampler": "stratified"}
PLAIN, IEC = {"weights": "none"}, {"weights": "iec"}
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
    pairs = [(name, player, players.make("greed")) for name, player in made.items()]
    pairs.append((HEAD_TO_HEAD, made["SS with IEC"], made["US"]))
    deals, options = settings.draw_deals(), settings.table_options()
    matches: dict[str, MatchResult] = {}
    interrupted = False
    try:
        for name, player, opponent in pairs:
            with progress(name) as on_progress:
                match = play_match(player, opponent, deals, on_progress=on_progress, **options)
            if match.interrupted:
                raise KeyboardInterrupt
            matches[name] = match
    except KeyboardInterrupt:
        if not matches:
            raise
        interrupted = True
    result = {"rows": summaries(matches), "interrupted": interrupted}
    print_table(
        "points over two Mr. Greeds, or over US", [_row(*item) for item in result["rows"].items()]
    )
    return finish("techniques", result, settings, line)


def summaries(matches: dict[str, MatchResult]) -> dict[str, dict[str, Any]]:
    """Each row as plain types."""
    found = {}
    for name, match in matches.items():
        found[name] = match.summary()
        if name not in ("US", HEAD_TO_HEAD):
            difference = paired_difference(match.margins, matches["US"].margins)
            found[name]["over_us"] = difference.summary()
    return found


def _row(name: str, row: dict[str, Any]) -> dict[str, str]:
    points, rates = PAPER[name]
    over = row.get("over_us")
    return {
        "technique": name,
        "points": f"{row['mean']:.1f} ± {row['standard_error'] or 0:.1f}",
        "won (+drawn)": f"{row['win_rate']:.1%} (+{row['draw_rate']:.1%})",
        "more than US": f"{over['mean']:.1f} ± {over['standard_error'] or 0:.1f}" if over else "",
        "paper": points,
        "paper won": rates,
        "games/s": f"{row['games_per_second']:.1f}",
    }


if __name__ == "__main__":
    sys.exit(main())
