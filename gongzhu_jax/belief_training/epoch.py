"""One epoch: new tables of the mixture, then learning from positions of all so far."""

import functools
from collections.abc import Callable, Mapping, Sequence

import jax
import jax.numpy as jnp
from flax import struct
from jax.sharding import Mesh

from gongzhu_jax.belief_training.config import BeliefTrainingConfig
from gongzhu_jax.belief_training.learner import compile_learn, init_learner
from gongzhu_jax.belief_training.mixture import Tables, play_mixture
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_SEATS
from gongzhu_jax.network.registry import Params
from gongzhu_jax.players.protocol import Player
from gongzhu_jax.runtime import on_all
from gongzhu_jax.training.learner import Learner, started


class BeliefState(struct.PyTreeNode):
    """All that a run is, between two epochs."""

    learner: Learner
    tables: Tables  # [window]; the oldest is overwritten first
    epoch: jax.Array  # [] int32, epochs finished


def init_state(
    config: BeliefTrainingConfig, mesh: Mesh, params: Params | None = None
) -> BeliefState:
    """The state before the first epoch, on all devices; `params` are those that `config.start` is
    the digest of."""

    def init() -> BeliefState:
        one = Tables(env.deal(jax.random.key(0)), jnp.zeros(NUM_SEATS, jnp.int8))
        empty = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (config.window, *leaf.shape)), one)
        return BeliefState(init_learner(config), empty, jnp.zeros((), jnp.int32))

    state = jax.jit(init, out_shardings=on_all(mesh))()
    return state.replace(learner=started(state.learner, config.start, params))


def compile_epoch(
    config: BeliefTrainingConfig, players: Sequence[Player], mesh: Mesh, chunk: int | None = None
) -> Callable[[BeliefState], tuple[BeliefState, Mapping[str, float]]]:
    """`state -> (state, figures)`: new tables, then learning from all."""
    learn = compile_learn(config, mesh)
    shares = list(config.mixture.values())

    @functools.partial(jax.jit, donate_argnums=0, out_shardings=on_all(mesh))
    def put(tables, new, first):
        return jax.tree.map(
            lambda old, leaf: jax.lax.dynamic_update_slice_in_dim(old, leaf, first, 0), tables, new
        )

    def run_epoch(state: BeliefState) -> tuple[BeliefState, Mapping[str, float]]:
        epoch = int(state.epoch)
        new = play_mixture((config.seed, epoch), config.games, players, shares, mesh, chunk)
        tables = put(state.tables, new, epoch * config.games % config.window)
        filled = min((epoch + 1) * config.games, config.window)
        key = jax.random.fold_in(jax.random.key(config.seed), epoch)
        learner, loss = learn(state.learner, tables, filled, key)
        return BeliefState(learner, tables, state.epoch + 1), {"loss": float(loss)}

    return run_epoch
