"""Every player against every other on the same deals, and the paper's epsilon.

    python -m experiments.round_robin deals=1024
    python -m experiments.round_robin 'players=[random,if,greed@5]' 'options={greed@5:{samples:5}}'

The result has `rows`, one for each pair ("greed over if"), the players, and epsilon (0 transitive,
1 intransitive; null for two players) with epsilon_sd from a bootstrap over deals, and
epsilon_floor, what it would be by chance alone if the players were transitive.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from experiments.common.cli import Result, experiment
from experiments.common.launchers import LauncherSettings
from experiments.common.results import Workplace
from experiments.common.settings import PlaySettings, at_least
from experiments.compare import as_rows, play_all
from gongzhu_jax.evaluation import intransitivity, intransitivity_floor, intransitivity_sd
from gongzhu_jax.evaluation.match_records import MatchRecord
from gongzhu_jax.players.labels import check_labels, make_labelled


@dataclass(frozen=True, kw_only=True)
class RoundRobinSettings(PlaySettings):
    players: list[str] = field(metadata=at_least(2))
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    checkpoint: str | None
    launcher: LauncherSettings = field(default_factory=LauncherSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_labels(self.players, self.options)


def epsilon(names: Sequence[str], records: Mapping[str, MatchRecord]) -> Result:
    """The paper's intransitivity of all pairs of three or more players."""
    if len(names) < 3:
        return {"epsilon": None, "epsilon_sd": None, "epsilon_floor": None}
    deals = len(next(iter(records.values())).margins)
    margins = np.zeros((len(names), len(names), deals))
    for (i, one), (j, other) in combinations(enumerate(names), 2):
        margins[j, i] = records[f"{other} over {one}"].margins
        margins[i, j] = -margins[j, i]
    return {
        "epsilon": float(intransitivity(margins.mean(axis=-1))),
        "epsilon_sd": intransitivity_sd(margins) if deals > 1 else None,
        "epsilon_floor": intransitivity_floor(margins) if deals > 1 else None,
    }


def run(settings: RoundRobinSettings, work: Workplace) -> Result:
    shared = {"checkpoint": settings.checkpoint}
    made = {label: make_labelled(label, settings.options, shared) for label in settings.players}
    # Players are listed from the weakest, and the stronger one of a pair comes first.
    pairs = [(other, one) for one, other in combinations(made, 2)]
    matches = {f"{a} over {b}": (made[a], made[b]) for a, b in pairs}
    records = play_all(matches, settings, work, launcher=settings.launcher)
    return {**as_rows(records), "players": settings.players, **epsilon(settings.players, records)}


main = experiment("round_robin", RoundRobinSettings, run)

if __name__ == "__main__":
    raise SystemExit(main())
