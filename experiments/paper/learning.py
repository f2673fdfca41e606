"""How training runs learn that differ in one thing: topologies, recipes, and what the paper claims.

    python -m experiments.paper.learning curves=topologies
    python -m experiments.paper.learning curves=ablations seeds=3 games=20480

Every run of `changes` starts from zero with the settings of `recipe`, a preset of
`experiments.train`, and its own changes, and learns from `games` games of its own, once for each of
`seeds`. At `points` moments on the way, equally far apart, the raw player of its network (one visit
per legal card, 5 uniform deals) meets two Mr. Greeds on the same deals. Runs are kept under
`directory` and go on after a stop. configs/curves has those that are published.

The result has `rows` by run, seed and games, what the record says of each match; `runs`:
parameters, seconds of training, and the rows of each run by games; and with one seed `differences`,
paired by deal: what each run has gained since it was first measured, and what it is over the first
run after as many games.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from experiments.common.cli import Result, experiment, flat, load_settings
from experiments.common.progress import progress
from experiments.common.results import Workplace
from experiments.common.settings import PlaySettings, at_least
from experiments.common.training_plots import plot_learning
from experiments.compare import as_rows, differences, play_all
from experiments.train import TrainSettings
from gongzhu_jax import players, runtime
from gongzhu_jax.checkpoint import LAST, Checkpoints
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation.fingerprint import json_digest
from gongzhu_jax.network.policy_value import count_parameters
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.training import Schedule, TrainingConfig, train_runs
from gongzhu_jax.training.runs import of_seeds


@dataclass(frozen=True, kw_only=True)
class LearningSettings(PlaySettings):
    name: str  # of the result
    recipe: str
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)
    games: int = field(metadata=at_least(1))
    games_of: dict[str, int] = field(default_factory=dict)
    points: int = field(metadata=at_least(1))
    deals_on_the_way: int | None = field(metadata=at_least(1))
    seeds: int = field(metadata=at_least(1))
    directory: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.changes:
            raise ConfigError("there are no runs: say curves=topologies, or changes={...}")
        for name in self.games_of:
            if name not in self.changes:
                raise ConfigError(f"games_of {name!r}, which is not among the runs")
        if (self.deals_on_the_way or 0) > self.deals:
            raise ConfigError(
                f"deals_on_the_way must be at most the deals of the end, {self.deals}"
            )
        for name in self.changes:
            self.training(name)

    def training(self, name: str) -> TrainingConfig:
        """The configuration of a run; that of its other seeds differs in the seed alone."""
        changes = {"preset": self.recipe, **self.changes[name]}
        arguments = [f"{key}={value}" for key, value in flat(changes)]
        settings = load_settings("train", TrainSettings, arguments)
        epochs = math.ceil(self.games_of.get(name, self.games) / settings.selfplay.games)
        return replace(settings, epochs=epochs, seed=self.seed).training()


@dataclass(frozen=True)
class Curve:
    """A run with its folder and the epochs at which it is measured."""

    name: str
    config: TrainingConfig
    seeds: range
    folder: Path
    points: int

    @property
    def every(self) -> int:
        return math.ceil(self.config.epochs / self.points)

    @property
    def epochs(self) -> list[int]:
        last = self.config.epochs
        return [*range(self.every, last, self.every), last]

    def label(self, seed: int, epoch: int) -> str:
        return f"{self.name}, seed {seed}, {epoch * self.config.selfplay.games} games"

    def checkpoints(self, seed: int) -> Checkpoints:
        return Checkpoints(self.folder / f"seed-{seed}")

    @property
    def is_finished(self) -> bool:
        return all(set(self.epochs) <= set(self.checkpoints(s).epochs(LAST)) for s in self.seeds)

    def train(self, about: Mapping[str, Any]) -> None:
        with progress(f"training {self.name}") as advance:
            train_runs(
                of_seeds(self.config, self.seeds),
                runtime.games_mesh(),
                self.folder,
                Schedule(checkpoint_every=self.every),
                keep=len(self.epochs),
                on_epoch=lambda row: advance(int(row["epoch"]), self.config.epochs),
                about=about,
            )


def make_curve(name: str, settings: LearningSettings, runs: Path) -> Curve:
    config = settings.training(name)
    seeds = range(settings.seed, settings.seed + settings.seeds)
    # A folder for each configuration: runs of other settings must not be gone on with.
    key = json_digest([asdict(config), settings.seeds, settings.points], 8)
    folder = runs / settings.directory / f"{name.replace(' ', '-')}-{key}"
    return Curve(name, config, seeds, folder, settings.points)


def run(settings: LearningSettings, work: Workplace) -> Result:
    greed = players.make("greed")
    curves = [make_curve(name, settings, work.runs) for name in settings.changes]
    matches, runs, on_the_way = {}, {}, {}
    for curve in curves:
        if not curve.is_finished:
            curve.train({key: work.provenance[key] for key in ("command", "commit")})
        points: dict[int, list[str]] = {}
        for epoch in curve.epochs:
            games = epoch * curve.config.selfplay.games
            points[games] = [curve.label(seed, epoch) for seed in curve.seeds]
            for seed, label in zip(curve.seeds, points[games], strict=True):
                place = curve.checkpoints(seed).directory / LAST / str(epoch)
                network, params = load_weights(place)
                matches[label] = players.from_network("raw", network, params), greed
                if epoch < curve.config.epochs:
                    on_the_way[label] = settings.deals_on_the_way or settings.deals
        about = curve.checkpoints(curve.seeds[0]).about(LAST, curve.config.epochs)
        runs[curve.name] = {
            "parameters": count_parameters(params),
            "training_seconds": about["progress"]["seconds"],
            "points": points,
        }
    records = play_all(matches, settings, work, on_the_way)
    pairs = pairs_of(runs) if settings.seeds == 1 else []
    result = {**as_rows(records), "differences": differences(records, pairs)}
    return {"name": settings.name, **result, "runs": runs}


def pairs_of(runs: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The rows whose difference is shown, of runs with one seed: the end of each with its own first
    row, and with that of the first run after as many games."""
    (first, *_), pairs = (run["points"] for run in runs.values()), []
    for run in runs.values():
        games, (end,) = list(run["points"].items())[-1]
        others = [next(iter(run["points"].values())), first.get(games, [end])]
        pairs += [(end, other) for (other,) in others if other != end]
    return pairs


main = experiment("paper/learning", LearningSettings, run, plot_learning)

if __name__ == "__main__":
    raise SystemExit(main())
