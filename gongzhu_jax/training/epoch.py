"""One epoch as one compiled program: self-play on every device, then learning."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct
from jax.sharding import Mesh, PartitionSpec

from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game.cards import NUM_CARDS
from gongzhu_jax.network.policy_value import Params, make
from gongzhu_jax.runtime import GAMES, on_all, over_games
from gongzhu_jax.search.mcts import network_policy_value
from gongzhu_jax.training.config import TrainingConfig
from gongzhu_jax.training.learner import Learner, init_learner, learn, make_optimiser, started
from gongzhu_jax.training.losses import LossParts
from gongzhu_jax.training.selfplay import Positions, SelfPlayStats, empty_positions, play_games


class TrainState(struct.PyTreeNode):
    """All that a run is, between two epochs."""

    learner: Learner
    window: Positions  # [review, G, T], the newest epoch at index epoch % review
    epoch: jax.Array  # [] int32, epochs finished
    key: jax.Array  # [] never changes; every use folds the epoch in


class EpochMetrics(struct.PyTreeNode):
    """What an epoch reports."""

    losses: LossParts
    selfplay: SelfPlayStats


def state_shapes(config: TrainingConfig, mesh: Mesh) -> TrainState:
    """The shapes of a `TrainState`, and where its parts live: games are split over devices, the
    rest is copied."""
    shapes = jax.eval_shape(functools.partial(_init, config))
    split = jax.sharding.NamedSharding(mesh, PartitionSpec(None, GAMES))
    window = jax.tree.map(lambda leaf: leaf.update(sharding=split), shapes.window)
    shapes = jax.tree.map(lambda leaf: leaf.update(sharding=on_all(mesh)), shapes)
    return shapes.replace(window=window)


def state_shardings(config: TrainingConfig, mesh: Mesh) -> TrainState:
    return jax.tree.map(lambda leaf: leaf.sharding, state_shapes(config, mesh))


def init_state(config: TrainingConfig, mesh: Mesh, params: Params | None = None) -> TrainState:
    """The state before the first epoch; `params` are those that `config.start` is the digest of."""
    if config.selfplay.games % mesh.size:
        raise ConfigError(
            f"{config.selfplay.games} games per epoch do not divide over {mesh.size} devices"
        )
    if config.learner.minibatch % mesh.size:
        raise ConfigError(
            f"minibatches of {config.learner.minibatch} do not divide over {mesh.size} devices"
        )
    init = functools.partial(_init, config)
    state = jax.jit(init, out_shardings=state_shardings(config, mesh))()
    return state.replace(learner=started(state.learner, config.start, params))


def _init(config: TrainingConfig) -> TrainState:
    key = jax.random.key(config.seed)
    network = make(config.network)
    return TrainState(
        learner=init_learner(network.init(jax.random.fold_in(key, 0)), make_optimiser(config)),
        window=empty_positions(config.learner.review, config.selfplay.games, NUM_CARDS),
        epoch=jnp.zeros((), jnp.int32),
        key=key,
    )


def _self_play_everywhere(params: Any, key: jax.Array, config: TrainingConfig, mesh: Mesh):
    """The games of an epoch, each device its share: positions [G, T] and statistics of all."""

    def on_device(params, key, games):
        network = make(config.network)
        policy_value = network_policy_value(network)
        positions, stats = play_games(
            network.rounded(params), key, games, policy_value, config.search, config.selfplay
        )
        return positions, jax.lax.psum(stats, GAMES)

    one, split = PartitionSpec(), PartitionSpec(GAMES)
    self_play = jax.shard_map(
        on_device, mesh=mesh, in_specs=(one, one, split), out_specs=(split, one), check_vma=False
    )
    games = jax.lax.with_sharding_constraint(jnp.arange(config.selfplay.games), over_games(mesh))
    return self_play(params, key, games)


def run_epoch(
    state: TrainState, config: TrainingConfig, mesh: Mesh
) -> tuple[TrainState, EpochMetrics]:
    """Games of the present parameters, then learning from them and from those before."""
    play_key, learn_key = jax.random.split(jax.random.fold_in(state.key, state.epoch + 1))
    positions, stats = _self_play_everywhere(state.learner.average, play_key, config, mesh)

    newest = state.epoch % config.learner.review
    window = jax.tree.map(
        lambda leaf, new: jax.lax.dynamic_update_index_in_dim(leaf, new, newest, 0),
        state.window,
        positions,
    )
    filled = jnp.minimum(state.epoch + 1, config.learner.review)
    learner, losses = learn(state.learner, window, filled, learn_key, config, mesh)
    after = state.replace(learner=learner, window=window, epoch=state.epoch + 1)
    return after, EpochMetrics(losses, stats)


def compile_epoch(config: TrainingConfig, mesh: Mesh):
    """`state -> (state, metrics)`; the state is donated."""
    shardings = state_shardings(config, mesh)
    return jax.jit(
        functools.partial(run_epoch, config=config, mesh=mesh),
        in_shardings=(shardings,),
        out_shardings=(shardings, on_all(mesh)),
        donate_argnums=0,
    )


def compile_self_play(config: TrainingConfig, mesh: Mesh):
    """`(params, key) -> (positions, statistics)`: the first half of an epoch alone."""
    return jax.jit(functools.partial(_self_play_everywhere, config=config, mesh=mesh))
