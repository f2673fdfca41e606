"""One epoch of learning values of honest play: games on every device, then learning from them."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jax.sharding import Mesh, PartitionSpec

from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game import env
from gongzhu_jax.inference.config import InferenceConfig
from gongzhu_jax.inference.decision import make_params
from gongzhu_jax.network.registry import Params, make
from gongzhu_jax.runtime import GAMES, on_all
from gongzhu_jax.search.mcts import network_policy_value
from gongzhu_jax.training.config import TrainingConfig
from gongzhu_jax.training.honest_selfplay import HonestGames, honest_targets, play_honest_games
from gongzhu_jax.training.learner import Learner, init_learner, learn, started
from gongzhu_jax.training.losses import LossParts
from gongzhu_jax.training.selfplay import Positions


@dataclass(frozen=True)
class HonestTrainingConfig:
    """A run of honest self-play; `training.search` is not used."""

    training: TrainingConfig = field(default_factory=TrainingConfig)
    inference: InferenceConfig = field(default_factory=InferenceConfig)
    belief: str = ""  # digest of the belief that the players draw scenarios by
    opponents: Mapping[str, float] = field(default_factory=dict)  # share of tables against others

    @property
    def epochs(self) -> int:
        return self.training.epochs


class Frozen(struct.PyTreeNode):
    """Networks that the run uses and does not change."""

    policy: Params  # whose policy head the learner keeps
    belief: Params
    others: Any = ()  # parameters of the other players at the tables


class HonestState(struct.PyTreeNode):
    """All that a run is, between two epochs."""

    learner: Learner
    epoch: jax.Array  # [] int32, epochs finished


def init_state(config: HonestTrainingConfig, mesh: Mesh, params: Params) -> HonestState:
    training = config.training
    if training.selfplay.games % mesh.size or training.learner.minibatch % mesh.size:
        raise ConfigError(f"games and minibatch must divide over {mesh.size} devices")

    def init() -> HonestState:
        learner = init_learner(jax.random.key(training.seed), make(training.network), training)
        return HonestState(learner, jnp.zeros((), jnp.int32))

    state = jax.jit(init, out_shardings=on_all(mesh))()
    return state.replace(learner=started(state.learner, training.start, params))


def compile_epoch(
    config: HonestTrainingConfig, mesh: Mesh, acts: Sequence[Callable] = ()
) -> Callable[[HonestState, Frozen], tuple[HonestState, LossParts, HonestGames]]:
    training = config.training
    network = make(training.network)
    policy_value = network_policy_value(network)

    def play_on_device(
        average: Params, frozen: Frozen, key, games
    ) -> tuple[Positions, HonestGames]:
        params = make_params(average, config.inference, frozen.belief)
        ends = np.cumsum([0.0, *config.opponents.values()])
        # Evenly spread over the games: the share of each opponent is exact.
        place = ((games * 0.6180339887) % 1.0)[:, None] - ends[None, :]
        kind = jnp.where(place[:, -1] >= 0, 0, jnp.sum(place[:, :-1] >= 0, axis=1))
        even = jnp.arange(4) % 2 == (games // 2 % 2)[:, None]
        seats = jnp.where(even, kind[:, None], 0).astype(jnp.int8)
        played = play_honest_games(
            params,
            key,
            games,
            network,
            config.inference,
            training.selfplay.exploration,
            seats,
            list(zip(acts, frozen.others, strict=True)),
        )
        lone = config.inference.search.lone_transformer

        def positions(item) -> Positions:
            game, honest = item
            value = lambda params, states: policy_value(params, states)[1]  # noqa: E731
            path, target, learnt = honest_targets(
                average, game, honest, value, training.selfplay.td_lambda, lone
            )
            logits, _ = policy_value(frozen.policy, path)
            legal = jax.vmap(env.legal_mask)(path)
            policy = jax.nn.softmax(jnp.where(legal, logits, -jnp.inf))
            # What is not learnt counts as the network has it, which teaches nothing.
            target = jnp.where(learnt, target, jnp.nan)
            return Positions(path, policy, target, jnp.sum(legal, axis=1) > 1)

        positions = jax.lax.map(positions, (played.state, played.honest), batch_size=16)
        return positions, played.replace(evaluated=jax.lax.psum(played.evaluated, GAMES))

    one, split = PartitionSpec(), PartitionSpec(GAMES)
    play = jax.shard_map(
        play_on_device,
        mesh=mesh,
        in_specs=(one, one, one, split),
        out_specs=(split, HonestGames(split, split, split, split, one)),  # ty: ignore
        check_vma=False,
    )

    @functools.partial(jax.jit, donate_argnums=0)
    def epoch(state: HonestState, frozen: Frozen):
        key = jax.random.fold_in(jax.random.key(training.seed), state.epoch + 1)
        play_key, learn_key = jax.random.split(key)
        games = jnp.arange(training.selfplay.games)
        positions, played = play(state.learner.average, frozen, play_key, games)
        window: Any = jax.tree.map(lambda leaf: leaf[None], positions)
        learner, losses = learn(state.learner, window, jnp.int32(1), learn_key, training, mesh)
        return HonestState(learner, state.epoch + 1), losses, played

    return epoch
