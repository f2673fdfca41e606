"""Who is how strong, from the margins of all finished matches."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from gongzhu_jax.evaluation import stats

YARDSTICK = "greed"
"""The paper's measure of strength is the margin over this player."""


def leaderboard(matches: Iterable[tuple[str, str, list[float]]]) -> list[dict[str, Any]]:
    """A row for each player, the best first: mean margin of its team over that of its opponents
    with standard error and 95 % interval, over deals, and the same against each opponent."""
    margins: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for first, second, found in matches:
        margins[first][second] += found
        margins[second][first] += [-margin for margin in found]
    rows = [_row(name, opponents) for name, opponents in margins.items()]
    return sorted(rows, key=lambda row: (-row["mean"], row["player"]))


def _row(name: str, opponents: dict[str, list[float]]) -> dict[str, Any]:
    every = np.concatenate([np.array(found) for found in opponents.values()])
    against = {other: stats.estimate(np.array(found)) for other, found in opponents.items()}
    return {
        "player": name,
        **stats.estimate(every).summary(),
        "win_rate": stats.win_rate(every),
        "opponents": {other: found.summary() for other, found in sorted(against.items())},
        "over_yardstick": against[YARDSTICK].summary() if YARDSTICK in against else None,
    }
