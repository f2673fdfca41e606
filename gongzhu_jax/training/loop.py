"""The host's side of a run: epochs, evaluations, checkpoints, and coming back after a stop."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import jax
from jax.experimental import multihost_utils
from jax.sharding import Mesh

from gongzhu_jax.checkpoint import BEST, LAST, Checkpoints
from gongzhu_jax.errors import CheckpointError, ConfigError
from gongzhu_jax.network.registry import Params
from gongzhu_jax.training.config import TrainingConfig
from gongzhu_jax.training.epoch import EpochMetrics, TrainState, compile_epoch, init_state

EvaluateFn = Callable[[Params, int], Mapping[str, float]]
"""(parameters that play, epoch) -> figures, among them "wpg" """
ReportFn = Callable[[Mapping[str, float]], None]


@dataclass(frozen=True)
class Schedule:
    """How often, in epochs, things happen that do not change the result of a run."""

    evaluate_every: int = 50
    checkpoint_every: int = 10

    def __post_init__(self) -> None:
        if self.evaluate_every < 1 or self.checkpoint_every < 1:
            raise ConfigError("evaluate_every and checkpoint_every must be at least 1")


@dataclass
class Progress:
    """What a run remembers beside its state."""

    seconds: float = 0.0  # of training, over all stretches, evaluations not included
    best_wpg: float | None = None


def train(
    config: TrainingConfig,
    mesh: Mesh,
    checkpoints: Checkpoints,
    schedule: Schedule,
    *,
    evaluate: EvaluateFn | None = None,
    on_start: ReportFn = lambda row: None,
    on_epoch: ReportFn = lambda row: None,
    should_stop: Callable[[], bool] = lambda: False,
    about: Mapping[str, Any] | None = None,
) -> TrainState:
    """Trains until the last epoch or until `should_stop`, from the newest intact checkpoint if
    there is one. A run that was stopped and resumed ends as one that was not."""
    state, progress = resume(config, mesh, checkpoints)
    run_epoch = compile_epoch(config, mesh)
    header = {"config": asdict(config), **(about or {})}
    epoch = int(state.epoch)
    on_start({"epoch": epoch, "seconds": progress.seconds})

    def save(kind: str) -> None:
        notes = {**header, "epoch": epoch, "progress": asdict(progress)}
        checkpoints.save(kind, epoch, state, state.learner.average, notes)

    while epoch < config.epochs:
        started = time.perf_counter()
        state, metrics = run_epoch(state)
        jax.block_until_ready(state)
        seconds = time.perf_counter() - started
        progress.seconds += seconds
        epoch += 1
        last, stop = epoch == config.epochs, _anywhere(should_stop())
        row = _row(config, metrics, epoch, seconds, progress)
        if evaluate is not None and (epoch % schedule.evaluate_every == 0 or last):
            row |= evaluate(state.learner.average, epoch)
            if progress.best_wpg is None or row["wpg"] > progress.best_wpg:
                progress.best_wpg = row["wpg"]
                save(BEST)
        on_epoch(row)
        if epoch % schedule.checkpoint_every == 0 or last or stop:
            save(LAST)
        if stop:
            break
    return state


def resume(
    config: TrainingConfig, mesh: Mesh, checkpoints: Checkpoints
) -> tuple[TrainState, Progress]:
    """The state of the newest checkpoint, or the beginning if there is none."""
    start = init_state(config, mesh)
    epochs = checkpoints.epochs(LAST)
    if not epochs:
        return start, Progress()
    newest = epochs[-1]
    header = checkpoints.about(LAST, newest)
    _check_same_run(header["config"], asdict(config), checkpoints)
    state = checkpoints.restore(LAST, newest, "state", start)
    return state, Progress(**header["progress"])


def _check_same_run(saved: Mapping, wanted: Mapping, checkpoints: Checkpoints) -> None:
    different = sorted(_differences(saved, wanted))
    if different:
        raise CheckpointError(
            f"the run in {checkpoints.directory} has other settings: {'; '.join(different)}. "
            "Use those, or another folder"
        )


def _differences(saved: Mapping, wanted: Mapping, prefix: str = "") -> list[str]:
    found = []
    for name in saved.keys() | wanted.keys():
        old, new = saved.get(name), wanted.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            found += _differences(old, new, f"{prefix}{name}.")
        elif old != new:
            found.append(f"{prefix}{name} is {old} there and {new} here")
    return found


def _anywhere(stop: bool) -> bool:
    """Whether any host wants to stop, so that all of them stop at the same epoch."""
    if jax.process_count() == 1:
        return stop
    return bool(multihost_utils.process_allgather(stop).any())


def _row(
    config: TrainingConfig,
    metrics: EpochMetrics,
    epoch: int,
    seconds: float,
    progress: Progress,
) -> dict[str, float]:
    games = config.selfplay.games
    play, losses = metrics.selfplay, metrics.losses
    return {
        "epoch": epoch,
        "games": epoch * games,
        "seconds": progress.seconds,
        "games_per_second": games / seconds,
        "loss": float(losses.total),
        "policy_loss": float(losses.policy),
        "value_loss": float(losses.value),
        "evaluations_per_game": float(play.demanded) / games,
        "waste": 1 - float(play.demanded) / max(float(play.evaluated), 1.0),
        "margin": float(play.margin) / games,
    }
