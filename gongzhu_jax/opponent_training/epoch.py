"""One epoch: new games of the mixture, then learning from positions of all in the window."""

import functools
from collections.abc import Callable, Mapping, Sequence

import jax
import jax.numpy as jnp
from flax import struct
from jax.sharding import Mesh

from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_SEATS
from gongzhu_jax.network.policy_value import Params
from gongzhu_jax.opponent_training.config import MixtureTrainingConfig
from gongzhu_jax.opponent_training.learner import compile_learn, init_learner
from gongzhu_jax.opponent_training.mixture import MixtureGames, play_mixture
from gongzhu_jax.players.protocol import Player
from gongzhu_jax.runtime import on_all
from gongzhu_jax.training.learner import Learner, started


class MixtureState(struct.PyTreeNode):
    """All that a run is, between two epochs."""

    learner: Learner
    window: MixtureGames  # [window]; the oldest games are overwritten first
    epoch: jax.Array  # [] int32, epochs finished


def init_state(
    config: MixtureTrainingConfig, mesh: Mesh, params: Params | None = None
) -> MixtureState:
    """The state before the first epoch, on all devices; `params` are those that `config.start` is
    the digest of."""

    def init() -> MixtureState:
        one = MixtureGames(env.deal(jax.random.key(0)), jnp.zeros(NUM_SEATS, jnp.int8))
        empty = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (config.window, *leaf.shape)), one)
        return MixtureState(init_learner(config), empty, jnp.zeros((), jnp.int32))

    state = jax.jit(init, out_shardings=on_all(mesh))()
    return state.replace(learner=started(state.learner, config.start, params))


def compile_epoch(
    config: MixtureTrainingConfig, players: Sequence[Player], mesh: Mesh, chunk: int | None = None
) -> Callable[[MixtureState], tuple[MixtureState, Mapping[str, float]]]:
    """`state -> (state, figures)`: new games, then learning from the window."""
    learn = compile_learn(config, mesh)
    shares = list(config.mixture.values())

    @functools.partial(jax.jit, donate_argnums=0, out_shardings=on_all(mesh))
    def put(window, new, first):
        return jax.tree.map(
            lambda old, leaf: jax.lax.dynamic_update_slice_in_dim(old, leaf, first, 0), window, new
        )

    def run_epoch(state: MixtureState) -> tuple[MixtureState, Mapping[str, float]]:
        epoch = int(state.epoch)
        new = play_mixture((config.seed, epoch), config.games, players, shares, mesh, chunk)
        window = put(state.window, new, epoch * config.games % config.window)
        filled = min((epoch + 1) * config.games, config.window)
        key = jax.random.fold_in(jax.random.key(config.seed), epoch)
        learner, loss = learn(state.learner, window, filled, key)
        return MixtureState(learner, window, state.epoch + 1), {"loss": float(loss)}

    return run_epoch
