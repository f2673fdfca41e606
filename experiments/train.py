"""Trains a network by self-play: `python -m experiments.train preset=compact`.

Stops cleanly on SIGTERM or Ctrl-C, and goes on where it was when it is started again.
"""

import functools
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import jax
from rich.console import Console

from experiments.common import interrupts
from experiments.common.cli import DONE, command, load_settings
from experiments.common.loggers import check_loggers, start_loggers
from experiments.common.progress import note, progress
from experiments.common.provenance import commit
from experiments.common.settings import at_least, check_least, check_run_folder
from experiments.common.tracking import (
    LOG_NAME,
    RunLog,
    curve_points,
    epoch_line,
    read_log,
    run_summary,
    with_error,
)
from experiments.common.training_plots import plot_training
from gongzhu_jax import players, runtime
from gongzhu_jax.checkpoint import Checkpoints, digest
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation import play_match
from gongzhu_jax.evaluation.deal_sets import choose_deals
from gongzhu_jax.evaluation.fingerprint import json_digest
from gongzhu_jax.files import write_whole
from gongzhu_jax.network.policy_value import NetworkConfig, Params
from gongzhu_jax.network.weights import (
    POLICY_VALUE,
    SUFFIX,
    NetworkKind,
    about_weights,
    load_weights,
)
from gongzhu_jax.search.config import SearchConfig
from gongzhu_jax.training import (
    LearnerConfig,
    Schedule,
    SelfPlayConfig,
    TrainingConfig,
    train,
    train_runs,
)
from gongzhu_jax.training.loop import EvaluateFn
from gongzhu_jax.training.runs import figure_of_run


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """What all trainings have."""

    directory: str
    start: str | None
    checkpoints: str | None
    distributed: bool
    profile: str | None
    loggers: list[str]

    def __post_init__(self) -> None:
        check_least(self)
        check_loggers(self.loggers)
        check_run_folder(self.directory)
        for setting in ("profile", "checkpoints"):
            folder = getattr(self, setting)
            if folder is not None and "://" not in folder:
                check_run_folder(folder, setting)


@dataclass(frozen=True, kw_only=True)
class TrainSettings(RunSettings):
    epochs: int  # of self-play and learning; the learning rate reaches its end with the last
    seed: int  # of deals, play and the network's first parameters
    # independent runs in one program, with this seed and those after it
    seeds: int = field(metadata=at_least(1))
    network: NetworkConfig = field(default_factory=NetworkConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    selfplay: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    evaluate_every: int  # epochs between evaluations
    evaluate_deals: int = field(metadata=at_least(0))
    checkpoint_every: int  # epochs between checkpoints

    def training(self, start: str | None = None) -> TrainingConfig:
        """`start` is the digest of the parameters that the run starts from."""
        return TrainingConfig(
            self.epochs, self.seed, self.network, self.search, self.selfplay, self.learner, start
        )

    @property
    def schedule(self) -> Schedule:
        return Schedule(self.evaluate_every, self.checkpoint_every)


def load_preset(name: str) -> TrainingConfig:
    """The training configuration of a preset."""
    return load_settings("train", TrainSettings, [f"preset={name}"]).training()


def over_greed(make: Callable[[Params], players.Player], deals: int, seed: int) -> EvaluateFn:
    """Points over Mr. Greed of the player made of the parameters, on the development deals: the
    same ones every time."""
    chosen, greed = choose_deals("development-1", deals).deals, players.make("greed")

    def evaluate(params: Params, epoch: int) -> Mapping[str, float]:
        result = play_match(make(params), greed, chosen, seed=seed)
        return {"wpg": result.mean, "wpg_stderr": result.standard_error}

    return evaluate


@command("train", TrainSettings)
def main(settings: TrainSettings, line: str) -> int:
    run_training(settings, line)
    return DONE


class Start(NamedTuple):
    """What a run starts from."""

    params: Params | None  # None: random ones
    about: dict[str, Any]  # what checkpoints say of it, as it is when the run starts

    @property
    def digest(self) -> str | None:
        return None if self.params is None else digest(self.params)


def starting_point(
    settings: RunSettings, network: Any, kind: NetworkKind, line: str, usual: Params | None = None
) -> Start:
    """The parameters of the weights file `start`, or the usual ones."""
    about = {"command": line, "commit": commit()}
    if settings.start is None:
        return Start(usual, about)
    path = Path(settings.start)
    if path.suffix != SUFFIX:
        raise ConfigError(f"start must be a weights file (*{SUFFIX}), not {path}")
    stored, params = load_weights(path, kind)
    if stored != network:
        raise ConfigError(f"{path} has the network {stored}, this run {network}")
    return Start(params, {**about, "start": about_weights(path)})


def run_training(settings: TrainSettings, line: str) -> list[dict[str, float]]:
    """One stretch of a run, or of one with each of several seeds; returns its log so far."""
    seeds = range(settings.seed, settings.seed + settings.seeds)
    runs = {f"seed-{seed}": replace(settings, seed=seed) for seed in seeds}
    return _train(settings, runs, line)


def run_side_by_side(runs: Sequence[TrainSettings], line: str) -> bool:
    """One stretch of runs that differ in seeds and numbers, in one program; whether they are
    finished. Each has what it would have alone in its own folder; all of these lie in one."""
    by_name = {Path(run.directory).name: run for run in runs}
    parent = Path(runs[0].directory).parent
    together = parent / f"together-{json_digest(sorted(by_name), 16)}"
    rows = _train(replace(runs[0], directory=str(together), checkpoints=str(parent)), by_name, line)
    for name in by_name:
        log = parent / name / LOG_NAME
        log.parent.mkdir(parents=True, exist_ok=True)
        own = [_row_of_run(row, name, list(by_name)) for row in rows]
        # A run that has gone on from what it was alone, or with others, has rows from there.
        first = own[0]["epoch"] if own else math.inf
        before = [row for row in (read_log(log) if log.exists() else ()) if row["epoch"] < first]
        lines = (json.dumps(row) + "\n" for row in (*before, *own))
        write_whole(log, "".join(lines).encode())
    return bool(rows) and rows[-1]["epoch"] == runs[0].epochs


def _row_of_run(row: Mapping[str, float], name: str, names: Sequence[str]) -> dict[str, float]:
    """What the log of one run says, from that of all."""
    figures = [figure for figure in row if figure_of_run(figure, name) in row]
    single = {figure_of_run(figure, other) for figure in figures for other in names}
    left_out = single.union(f"{figure}_stderr" for figure in figures)
    shared = {figure: value for figure, value in row.items() if figure not in left_out}
    return shared | {figure: row[figure_of_run(figure, name)] for figure in figures}


def _train(
    settings: TrainSettings, runs: Mapping[str, TrainSettings], line: str
) -> list[dict[str, float]]:
    """Trains runs, by name, in one program, and one by itself; `settings` say how and where."""
    first = starting_point(settings, settings.network, POLICY_VALUE, line)
    config = settings.training(first.digest)

    def start(**options: Any) -> Any:
        options["about"] = first.about
        if deals := settings.evaluate_deals:
            raw = functools.partial(players.from_network, "raw", settings.network)
            options["evaluate"] = over_greed(raw, deals, settings.seed)
        mesh, folder = runtime.games_mesh(), settings.checkpoints or settings.directory
        how = (settings.schedule, first.params)
        if len(runs) == 1:
            return train(config, mesh, Checkpoints(folder), *how, **options)
        configs = {name: run.training(first.digest) for name, run in runs.items()}
        return train_runs(configs, mesh, folder, *how, **options)

    rows = run_logged(start, settings, config, config.selfplay.games, "wpg")
    if rows:
        plot_training(curve_points(rows), rows, Path(settings.directory) / "curve.png")
    return rows


def run_logged(
    start: Callable[..., Any],
    settings: RunSettings,
    config: Any,
    games: int,
    score: str,
) -> list[dict[str, float]]:
    """A stretch of a run with progress, log and a clean stop; returns the log so far.

    `start` is called with `on_start`, `on_epoch` and `should_stop` of `run_epochs` and returns the
    state at the end. `config` is that of the run, whose epochs have `games` each. Rows that have
    `score` are also printed.
    """
    epochs, what = config.epochs, f"epochs of {games} games"
    directory, first_process = Path(settings.directory), jax.process_index() == 0
    console = Console(stderr=True, quiet=not first_process)
    log: RunLog | None = None
    epochs_here = 0
    with progress(what) as advance, ExitStack() as trace, interrupts.wished() as wished:

        def on_start(row: Mapping[str, float]) -> None:
            nonlocal log
            if row["epoch"]:
                console.print(f"going on from epoch {row['epoch']} in {directory}")
            if first_process:
                loggers = start_loggers(settings.loggers, directory, asdict(config))
                log = RunLog(directory, int(row["epoch"]), loggers)
                if score in row:
                    log.write(row)
            if score in row:
                console.print(f"starts with {score} {with_error(row, score)}")
            advance(int(row["epoch"]), epochs)

        def on_epoch(row: Mapping[str, float]) -> None:
            nonlocal epochs_here
            epochs_here += 1
            trace.close()
            if settings.profile is not None and epochs_here == 1:  # the first epoch compiles
                trace.enter_context(jax.profiler.trace(settings.profile))
            if log is not None:
                log.write(row)
            advance(int(row["epoch"]), epochs)
            if score in row:
                console.print(epoch_line(row, score))

        state = start(on_start=on_start, on_epoch=on_epoch, should_stop=wished)
    rows = []
    if log is not None:
        log.__exit__(None, None, None)
        rows = read_log(log.path)
    for text in run_summary(rows, directory, epochs, score) if rows else ():
        note(text)
    if rows:
        note(f"checkpoints are in {settings.checkpoints or directory}")
    if int(state.epoch) < epochs:
        stopped = f"stopped after epoch {int(state.epoch)}"
        if settings.distributed:  # by its exit code the scheduler knows that it must start again
            raise KeyboardInterrupt(stopped)
        console.print(f"{stopped}; the same command goes on from there")
    return rows


if __name__ == "__main__":
    sys.exit(main())
