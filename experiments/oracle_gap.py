"""Where the loss is: the same network with the true hands and with ever better guesses at them.

    python -m experiments.oracle_gap deals=512

All rows are played on the same deals against two Mr. Greeds, with `base + per_legal x legal`
simulations in every scenario. The result has `rows` by name, each with what `experiments.evaluate`
says of a match and `over_first`: the difference to nine uniform scenarios on the same deals; the
picture goes to docs/.
"""

import sys
from dataclasses import dataclass
from typing import Any

from experiments.cli import command, finish
from experiments.comparison import Pairing, compare
from experiments.plots import plot_points
from experiments.results import ROOT, points, print_table
from experiments.settings import PlaySettings
from gongzhu_jax import players
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.players import all_seeing
from gongzhu_jax.search.config import SearchConfig

UNIFORM: dict[str, Any] = {"scenarios.stratified": False, "weights.rule": "none"}
STRATIFIED: dict[str, Any] = {"scenarios.stratified": True, "weights.rule": "none"}
FIRST, MOST = "9 uniform", "256 uniform"
PLAYERS: dict[str, dict[str, Any]] = {
    FIRST: UNIFORM | {"scenarios.draws": 9},
    "9 stratified (SS)": STRATIFIED | {"scenarios.draws": 9},
    "9 stratified, exact shares": STRATIFIED
    | {"scenarios.draws": 9, "scenarios.stratum_weights": "exact"},
    "9 stratified, IEC": STRATIFIED | {"scenarios.draws": 9, "weights.rule": "iec"},
    "64 uniform": UNIFORM | {"scenarios.draws": 64},
    MOST: UNIFORM | {"scenarios.draws": 256},
}
ALL_SEEING = "the true hands"


@dataclass(frozen=True, kw_only=True)
class OracleGapSettings(PlaySettings):
    checkpoint: str | None
    base: int
    per_legal: int
    deals_of_most: int | None
    picture: str | None


@command("oracle_gap", OracleGapSettings)
def main(settings: OracleGapSettings, line: str) -> int:
    greed = players.make("greed")
    budget: dict[str, Any] = {"base": settings.base, "per_legal": settings.per_legal}
    network, params = load_weights(settings.checkpoint)
    made = {ALL_SEEING: all_seeing.from_network(network, params, SearchConfig(**budget, chunk=128))}
    for name, own in PLAYERS.items():
        made[name] = players.make("scrofa", checkpoint=settings.checkpoint, search=budget, **own)
    comparison = compare(
        [
            Pairing(name, player, greed, settings.deals_of_most if name == MOST else None)
            for name, player in made.items()
        ],
        settings,
    )
    rows = {name: dict(row) for name, row in comparison.rows.items()}
    for name, row in rows.items():
        if name != FIRST and FIRST in rows:
            row["over_first"] = comparison.difference(name, FIRST).summary()
    print_table("points over two Mr. Greeds", [_row(*item) for item in rows.items()])
    if settings.picture is not None:
        title = f"One network, {settings.base} + {settings.per_legal} x legal simulations"
        plot_points(rows, title, ROOT / settings.picture)
    result = {"rows": rows, "interrupted": comparison.interrupted}
    return finish("oracle_gap", result, settings, line)


def _row(name: str, row: dict[str, Any]) -> dict[str, str]:
    over = row.get("over_first")
    return {
        "what the player knows": name,
        "points": points(row),
        f"more than {FIRST}": points(over) if over else "",
        "deals": str(row["deals"]),
        "games/s": f"{row['games_per_second']:.1f}",
    }


if __name__ == "__main__":
    sys.exit(main())
