"""The host's side of a run: epochs, evaluations, checkpoints, and coming back after a stop."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol, TypeVar

import jax
from jax.experimental import multihost_utils
from jax.sharding import Mesh

from gongzhu_jax.checkpoint import BEST, LAST, Checkpoints
from gongzhu_jax.device_profile import SPEED_SETTINGS
from gongzhu_jax.errors import CheckpointError, ConfigError
from gongzhu_jax.network.policy_value import Params
from gongzhu_jax.training.config import TrainingConfig
from gongzhu_jax.training.epoch import EpochMetrics, TrainState, compile_epoch, init_state

EvaluateFn = Callable[[Params, int], Mapping[str, float]]
"""(parameters that play, epoch) -> figures"""
ReportFn = Callable[[Mapping[str, float]], None]


@dataclass(frozen=True)
class Schedule:
    """How often, in epochs, things happen that do not change the result of a run."""

    evaluate_every: int = 50  # epochs between evaluations
    checkpoint_every: int = 10  # epochs between checkpoints

    def __post_init__(self) -> None:
        if self.evaluate_every < 1 or self.checkpoint_every < 1:
            raise ConfigError("evaluate_every and checkpoint_every must be at least 1")


@dataclass
class Progress:
    """What a run remembers beside its state."""

    seconds: float = 0.0  # of training, over all stretches, evaluations not included
    best_score: float | None = None


class EpochState(Protocol):
    """What the loop needs to know of the state of a run."""

    @property
    def epoch(self) -> Any:
        """Epochs finished, int32[]."""
        ...


S = TypeVar("S", bound=EpochState)


def train(
    config: TrainingConfig,
    mesh: Mesh,
    checkpoints: Checkpoints,
    schedule: Schedule,
    params: Params | None = None,
    **options: Any,
) -> TrainState:
    """Self-play and learning, from `params` if the run starts from given ones; `options` as in
    `run_epochs`."""
    compiled = compile_epoch(config, mesh)

    def run_epoch(state: TrainState) -> tuple[TrainState, Mapping[str, float]]:
        state, metrics = compiled(state)
        jax.block_until_ready(state)
        return state, epoch_figures(config, metrics)

    start = init_state(config, mesh, params)
    return run_epochs(config, start, run_epoch, checkpoints, schedule, **options)


def run_epochs(
    config: Any,
    start: S,
    run_epoch: Callable[[S], tuple[S, Mapping[str, float]]],
    checkpoints: Checkpoints,
    schedule: Schedule,
    *,
    params_of: Callable[[Any], Params] = lambda state: state.learner.average,
    games_per_epoch: Callable[[Any], int] = lambda config: config.selfplay.games,
    evaluate: EvaluateFn | None = None,
    score: str = "wpg",
    evaluate_start: bool = False,
    on_start: ReportFn = lambda row: None,
    on_epoch: ReportFn = lambda row: None,
    should_stop: Callable[[], bool] = lambda: False,
    about: Mapping[str, Any] | None = None,
) -> S:
    """Runs until the last epoch or until `should_stop`, from the newest intact checkpoint if there
    is one, else from `start`. A run that was stopped and resumed ends as one that was not.

    Args:
      config: frozen dataclass with `epochs`; a run is resumed only with the same one.
      run_epoch: state to state and figures of the epoch; the state may be donated.
      params_of: the parameters that are evaluated and that players load.
      score: the figure of `evaluate` by which a checkpoint is the best.
      evaluate_start: whether to measure what the run starts from, too; `on_start` gets the figures.
    """
    state, progress = resume(config, start, checkpoints)
    header = {"config": asdict(config), **(about or {})}
    epoch, games = int(state.epoch), games_per_epoch(config)
    first: dict[str, float] = {"epoch": epoch, "games": epoch * games, "seconds": progress.seconds}
    if evaluate is not None and evaluate_start and epoch == 0:
        first |= evaluate(params_of(state), epoch)
    on_start(first)

    def save(series: str) -> None:
        notes = {**header, "epoch": epoch, "progress": asdict(progress)}
        checkpoints.save(series, epoch, state, params_of(state), notes)

    while epoch < config.epochs:
        started = time.perf_counter()
        state, figures = run_epoch(state)
        seconds = time.perf_counter() - started
        progress.seconds += seconds
        epoch += 1
        last, stop = epoch == config.epochs, _anywhere(should_stop())
        row: dict[str, float] = {"epoch": epoch, "games": epoch * games}
        row |= {"seconds": progress.seconds, "games_per_second": games / seconds, **figures}
        if evaluate is not None and (epoch % schedule.evaluate_every == 0 or last):
            row |= evaluate(params_of(state), epoch)
            if progress.best_score is None or row[score] > progress.best_score:
                progress.best_score = row[score]
                save(BEST)
        on_epoch(row)
        if epoch % schedule.checkpoint_every == 0 or last or stop:
            save(LAST)
        if stop:
            break
    checkpoints.wait()
    return state


def resume(config: Any, start: S, checkpoints: Checkpoints) -> tuple[S, Progress]:
    """The state of the newest checkpoint, or `start` if there is none."""
    epochs = checkpoints.epochs(LAST)
    if not epochs:
        return start, Progress()
    newest = epochs[-1]
    header = checkpoints.about(LAST, newest)
    if different := sorted(_differences(header["config"], asdict(config))):
        raise CheckpointError(
            f"the run in {checkpoints.directory} has other settings: {'; '.join(different)}. "
            "Use those, or another folder"
        )
    state = checkpoints.restore(LAST, newest, "state", start)
    return state, Progress(**header["progress"])


def _differences(saved: Mapping, wanted: Mapping, prefix: str = "") -> list[str]:
    different = []
    for name in (saved.keys() | wanted.keys()) - SPEED_SETTINGS:
        old, new = saved.get(name), wanted.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            different += _differences(old, new, f"{prefix}{name}.")
        elif old != new:
            different.append(f"{prefix}{name} is {old} there and {new} here")
    return different


def _anywhere(stop: bool) -> bool:
    """Whether any host wants to stop, so that all of them stop at the same epoch."""
    if jax.process_count() == 1:
        return stop
    return bool(multihost_utils.process_allgather(stop).any())


def epoch_figures(config: TrainingConfig, metrics: EpochMetrics) -> dict[str, float]:
    """What the log says of an epoch."""
    games = config.selfplay.games
    play, losses = metrics.selfplay, metrics.losses
    return {
        "loss": float(losses.total),
        "policy_loss": float(losses.policy),
        "value_loss": float(losses.value),
        "evaluations_per_game": float(play.demanded) / games,
        "waste": 1 - float(play.demanded) / max(float(play.evaluated), 1.0),
        "margin": float(play.margin) / games,
    }
