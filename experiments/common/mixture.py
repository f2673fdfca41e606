"""Trainings on games of a mixture of players: what those of the belief, the opponent model, the
distilled policy and the critic share."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import jax
import numpy as np

from experiments.common.settings import at_least
from experiments.train import RunSettings, run_logged, starting_point
from gongzhu_jax import runtime
from gongzhu_jax.checkpoint import Checkpoints
from gongzhu_jax.device_profile import check_sizes
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.mixture_training import (
    MixtureTrainingConfig,
    compile_epoch,
    held_out_nll,
    init_state,
    play_mixture,
)
from gongzhu_jax.network.policy_value import Params
from gongzhu_jax.network.weights import NetworkKind
from gongzhu_jax.players.labels import make_labelled
from gongzhu_jax.training.loop import EvaluateFn, Schedule, run_epochs

HELD_OUT_SEED = 1_000_003
"""Apart from every seed of a run, so that held-out deals are not those learnt from."""


@dataclass(frozen=True, kw_only=True)
class MixtureSettings(RunSettings):
    # Fields of `MixtureTrainingConfig` but for network and start.
    training: dict[str, Any] = field(default_factory=dict)
    network: Any
    schedule: Schedule = field(default_factory=Schedule)
    chunk: int | None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_sizes(chunk=self.chunk)
        if min(self.training["mixture"].values(), default=0.0) < 0:
            raise ConfigError("shares of the mixture must be 0 or more")
        self.config()  # refuses what cannot be trained before games are played to measure it by

    @property
    def player_types(self) -> dict[str, float]:
        """The mixture without those whose share is 0."""
        return {name: share for name, share in self.training["mixture"].items() if share > 0}

    @property
    def options(self) -> dict[str, dict[str, Any]]:
        return self.training.get("options", {})

    def config(self, start: str | None = None) -> MixtureTrainingConfig:
        """`start` is the digest of the parameters that the run starts from."""
        known = {field.name for field in fields(MixtureTrainingConfig)} - {"network", "start"}
        if unknown := sorted(set(self.training) - known):
            there_are = ", ".join(sorted(known))
            raise ConfigError(f"unknown setting 'training.{unknown[0]}'; there are {there_are}")
        chosen: dict[str, Any] = {**self.training, "mixture": self.player_types}
        return MixtureTrainingConfig(**chosen, network=self.network, start=start)


@dataclass(frozen=True, kw_only=True)
class HeldOutSettings(MixtureSettings):
    """Settings of networks that are measured on games of a player outside the mixture."""

    held_out: str | None
    held_out_games: int = field(metadata=at_least(0))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.held_out in self.player_types:
            raise ConfigError(f"{self.held_out!r} is in the mixture, so it is not held out")
        if self.held_out is None and self.held_out_games:
            raise ConfigError("held_out_games are games of the player held_out, and there is none")


def held_out_gain(settings: HeldOutSettings) -> EvaluateFn | None:
    """Gain over uniform on games of the held-out player, against itself and among the others."""
    if settings.held_out is None or not settings.held_out_games:
        return None
    mesh = runtime.games_mesh()
    types = settings.player_types
    made = [make_labelled(name, settings.options) for name in (settings.held_out, *types)]
    shares = [sum(types.values()), *types.values()]  # half of the seats are the held-out player's
    seed = (HELD_OUT_SEED, settings.training["seed"])
    games = play_mixture(seed, settings.held_out_games, made, shares, mesh, settings.chunk).states
    measure = jax.jit(lambda params, games: held_out_nll(params, games, settings.network))

    def evaluate(params: Any, epoch: int) -> Mapping[str, float]:
        nll, uniform, count = (np.asarray(part) for part in measure(params, games))
        gain = (uniform - nll).sum(axis=1) / count.sum(axis=1)  # by game
        return {
            "gain": float((uniform - nll).sum() / count.sum()),
            "gain_stderr": float(gain.std(ddof=1) / np.sqrt(len(gain))),
        }

    return evaluate


def run_training(
    settings: MixtureSettings,
    kind: NetworkKind,
    line: str,
    *,
    start_params: Params | None = None,
    kept_policy: Params | None = None,
    evaluate: EvaluateFn | None,
    score: str,
) -> None:
    """One stretch of a run of this kind of network.

    Args:
      start_params: the parameters that the run starts from where no file has them.
      kept_policy: for a critic, the parameters whose policy is kept.
      evaluate, score: what is measured.
    """
    first = starting_point(settings, settings.network, kind, line, start_params)
    config, mesh = settings.config(first.digest), runtime.games_mesh()
    made = [make_labelled(name, settings.options) for name in settings.player_types]

    def start(**hooks: Any) -> Any:
        return run_epochs(
            config,
            init_state(config, mesh, first.params),
            compile_epoch(config, made, mesh, settings.chunk, kept_policy),
            Checkpoints(settings.checkpoints or settings.directory),
            settings.schedule,
            games_per_epoch=lambda config: config.games,
            evaluate=evaluate,
            score=score,
            evaluate_start=first.params is not None,
            about=first.about,
            **hooks,
        )

    run_logged(start, settings, config, config.games, score)
