"""Trains values of honest play: `python -m experiments.train_honest directory=runs/honest`."""

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from experiments.cli import DONE, command
from experiments.results import commit
from experiments.train import run_logged, starting_point
from gongzhu_jax import players, runtime
from gongzhu_jax.checkpoint import Checkpoints, digest
from gongzhu_jax.evaluation import play_match, standard_deals
from gongzhu_jax.inference.belief import load_belief
from gongzhu_jax.network import weights
from gongzhu_jax.network.registry import NetworkConfig
from gongzhu_jax.players import scrofazero
from gongzhu_jax.training import LearnerConfig, Schedule, SelfPlayConfig, TrainingConfig
from gongzhu_jax.training.honest_epoch import (
    Frozen,
    HonestTrainingConfig,
    compile_epoch,
    init_state,
)
from gongzhu_jax.training.loop import run_epochs


@dataclass(frozen=True, kw_only=True)
class TrainHonestSettings:
    directory: str
    start: str | None
    belief: str | None
    epochs: int
    seed: int
    draws: int
    keep_games: bool
    opponents: dict[str, float] = field(default_factory=dict)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    selfplay: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    evaluate_every: int
    evaluate_deals: int
    checkpoint_every: int
    compilation_cache: str | None


@command("train_honest", TrainHonestSettings)
def main(settings: TrainHonestSettings, line: str) -> int:
    if settings.compilation_cache:
        jax.config.update("jax_compilation_cache_dir", settings.compilation_cache)
    directory, mesh = Path(settings.directory), runtime.games_mesh()
    start = settings.start or str(weights.shipped())
    params, about = starting_point(start, settings.network)
    belief_config, belief_params = load_belief(settings.belief)
    options = {
        "sampler": "belief",
        "draws": settings.draws,
        "candidates": 0,
        "weights": "belief",
        "chunk": 256,
    }
    inference = scrofazero.with_options(scrofazero.PRESETS["scrofa-strong"], options)
    inference = replace(inference, belief=belief_config)
    training = TrainingConfig(
        epochs=settings.epochs,
        seed=settings.seed,
        network=settings.network,
        selfplay=settings.selfplay,
        learner=settings.learner,
        start=digest(params),
    )
    config = HonestTrainingConfig(training, inference, digest(belief_params), settings.opponents)
    made = [_opponent(name, settings) for name in settings.opponents]
    compiled = compile_epoch(config, mesh, [player.act_batch for player in made])
    # The policy that is kept is the shipped one's, wherever the values start from.
    policy = weights.load_weights()[1]
    frozen = Frozen(policy, belief_params, [player.params for player in made])
    frozen = jax.device_put(frozen, runtime.on_all(mesh))

    def run_epoch(state: Any):
        epoch = int(state.epoch) + 1
        state, losses, played = compiled(state, frozen)
        jax.block_until_ready(state)
        if settings.keep_games:
            _keep(directory / "games" / f"{epoch:05d}.npz", played)
        return state, {
            "loss": float(losses.total),
            "policy_loss": float(losses.policy),
            "value_loss": float(losses.value),
            "evaluations_per_game": float(played.evaluated) / settings.selfplay.games,
        }

    deals = standard_deals("development", max(settings.evaluate_deals, 1))
    greed = players.make("greed")

    def evaluate(params: Any, epoch: int):
        player = players.from_network(
            "scrofa-strong", settings.network, params, draws=8, candidates=0, weights="belief"
        )
        result = play_match(player, greed, deals, seed=settings.seed)
        return {"wpg": result.mean, "wpg_stderr": result.standard_error}

    def begin(**hooks: Any) -> Any:
        return run_epochs(
            config,
            init_state(config, mesh, params),
            run_epoch,
            Checkpoints(directory),
            Schedule(settings.evaluate_every, settings.checkpoint_every),
            games_per_epoch=lambda config: config.training.selfplay.games,
            evaluate=evaluate if settings.evaluate_deals else None,
            about={"command": line, "commit": commit(), **about},
            **hooks,
        )

    run_logged(begin, directory, settings.epochs, "epochs of honest games", "wpg", _summary)
    return DONE


def _opponent(name: str, settings: TrainHonestSettings) -> Any:
    """`old` is an honest player with the network that is shipped."""
    if name != "old":
        return players.make(name)
    return players.make(
        "scrofa-strong", draws=settings.draws, candidates=0, weights="belief", chunk=256
    )


def _keep(path: Path, played: Any) -> None:
    """Games and Q of an epoch, for networks that learn from them later."""
    path.parent.mkdir(parents=True, exist_ok=True)
    state = jax.device_get(played.state)
    q = np.asarray(played.q)
    mask = q > -np.inf
    temporary = path.with_suffix(".tmp.npz")
    np.savez_compressed(
        temporary,
        plays=np.asarray(state.plays),
        leaders=np.asarray(state.leaders),
        taken_by=np.asarray(state.taken_by),
        random=np.asarray(played.random),
        honest=np.asarray(played.honest),
        mask=np.packbits(mask, axis=-1),
        q=q[mask],
    )
    temporary.rename(path)


def _summary(row: Any) -> str:
    return (
        f"epoch {row['epoch']}  {row['games']} games  {row['seconds'] / 60:.1f} min  "
        f"{row['games_per_second']:.0f} games/s  value {row['value_loss']:.1f}  "
        f"8 deals over greed {row['wpg']:.1f} +- {row['wpg_stderr']:.1f}"
    )


if __name__ == "__main__":
    sys.exit(main())
