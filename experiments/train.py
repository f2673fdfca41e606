"""Trains a network by self-play: `python -m experiments.train preset=compact|paper|smoke`.

Stops cleanly on SIGTERM or Ctrl-C, and goes on where it was when it is started again.
"""

import functools
import json
import math
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import jax
from rich.console import Console

from experiments.common.cli import DONE, command, load_settings
from experiments.common.loggers import Logger, check_loggers, start_loggers
from experiments.common.progress import note, progress
from experiments.common.provenance import commit
from experiments.common.run_summary import run_summary
from experiments.common.settings import check_run_folder
from experiments.common.tracking import LOG_NAME, RunLog, curve_points, read_log
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
    seeds: int  # independent runs in one program, with this seed and those after it
    network: NetworkConfig = field(default_factory=NetworkConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    selfplay: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    evaluate_every: int  # epochs between evaluations
    evaluate_deals: int
    checkpoint_every: int  # epochs between checkpoints

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.evaluate_deals < 0:
            raise ConfigError("evaluate_deals must be 0 (no evaluation) or more")
        if self.seeds < 1:
            raise ConfigError("seeds must be at least 1")

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


class StopSignal:
    """Turns SIGTERM and Ctrl-C into a wish that the loop reads between epochs."""

    def __init__(self) -> None:
        self.received = False

    def listen(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._receive)

    def _receive(self, number: int, frame: object) -> None:
        if self.received:  # the second time at once
            raise KeyboardInterrupt
        self.received = True


def make_evaluate(settings: TrainSettings):
    """Raw-network WPG on the development deals: the same ones every time."""
    deals = choose_deals("development-1", settings.evaluate_deals).deals
    greed = players.make("greed")

    def evaluate(params: Any, epoch: int) -> Mapping[str, float]:
        raw = players.from_network("raw", settings.network, params)
        result = play_match(raw, greed, deals, seed=settings.seed)
        return {"wpg": result.mean, "wpg_stderr": result.standard_error}

    return evaluate


@command("train", TrainSettings)
def main(settings: TrainSettings, line: str) -> int:
    run_training(settings, line)
    return DONE


def starting_point(
    start: str | None, network: Any, kind: NetworkKind = POLICY_VALUE
) -> tuple[Params | None, dict[str, Any]]:
    """The parameters of the weights file `start`, and what the file says of itself."""
    if start is None:
        return None, {}
    path = Path(start)
    if path.suffix != SUFFIX:
        raise ConfigError(f"start must be a weights file (*{SUFFIX}), not {path}")
    stored, params = load_weights(path, kind)
    if stored != network:
        raise ConfigError(f"{path} has the network {stored}, this run {network}")
    return params, {"start": about_weights(path)}


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
    directory = Path(settings.directory)
    params, about = starting_point(settings.start, settings.network)
    start_digest = None if params is None else digest(params)
    config = settings.training(start_digest)
    about = {"command": line, "commit": commit(), **about}  # as they are when the run starts

    def start(**options: Any) -> Any:
        options |= {"about": about}
        options["evaluate"] = make_evaluate(settings) if settings.evaluate_deals else None
        mesh, folder = runtime.games_mesh(), settings.checkpoints or directory
        if len(runs) == 1:
            return train(config, mesh, Checkpoints(folder), settings.schedule, params, **options)
        configs = {name: run.training(start_digest) for name, run in runs.items()}
        return train_runs(configs, mesh, folder, settings.schedule, params, **options)

    what = f"epochs of {config.selfplay.games} games"
    loggers = functools.partial(start_loggers, settings.loggers, directory, asdict(config))
    rows = run_logged(start, settings, config.epochs, what, "wpg", _summary, loggers)
    if rows:
        plot_training(curve_points(rows), rows, directory / "curve.png")
    return rows


def run_logged(
    start: Callable[..., Any],
    settings: RunSettings,
    epochs: int,
    what: str,
    score: str,
    summary: Callable[[Mapping[str, float]], str],
    loggers: Callable[[], Sequence[Logger]] = tuple,
) -> list[dict[str, float]]:
    """A stretch of a run with progress, log and a clean stop; returns the log so far.

    `start` is called with `on_start`, `on_epoch` and `should_stop` of `run_epochs` and returns the
    state at the end. Rows that have `score` are also printed, by `summary`; `loggers` starts those
    that the log is sent to as well.
    """
    directory, first_process = Path(settings.directory), jax.process_index() == 0
    console = Console(stderr=True, quiet=not first_process)
    stop = StopSignal()
    stop.listen()
    log: RunLog | None = None
    epochs_here = 0
    with progress(what) as advance, ExitStack() as trace:

        def on_start(row: Mapping[str, float]) -> None:
            nonlocal log
            if row["epoch"]:
                console.print(f"going on from epoch {row['epoch']} in {directory}")
            if first_process:
                log = RunLog(directory, int(row["epoch"]), loggers())
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
                console.print(summary(row))

        state = start(on_start=on_start, on_epoch=on_epoch, should_stop=lambda: stop.received)
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


def _summary(row: Mapping[str, float]) -> str:
    return (
        f"epoch {row['epoch']}  {row['games']} games  {row['seconds'] / 60:.1f} min  "
        f"{row['games_per_second']:.0f} games/s  policy {row['policy_loss']:.3f}  "
        f"value {row['value_loss']:.1f}  raw WPG {row['wpg']:.1f} +- {row['wpg_stderr']:.1f}"
    )


if __name__ == "__main__":
    sys.exit(main())
