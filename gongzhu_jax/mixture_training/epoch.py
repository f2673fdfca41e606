"""One epoch: new games of the mixture, then learning from positions of all in the window."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
from flax import struct
from jax.sharding import Mesh

from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_CARDS, NUM_SEATS
from gongzhu_jax.mixture_training.config import SELF, MixtureNetwork, MixtureTrainingConfig
from gongzhu_jax.mixture_training.critic import annotate
from gongzhu_jax.mixture_training.learner import compile_learn, new_learner
from gongzhu_jax.mixture_training.mixture import MixtureGames, play_mixture
from gongzhu_jax.network.policy_value import NetworkConfig, Params, make
from gongzhu_jax.opponents.distilled_policy import DistilledConfig
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
        one = _empty_game(config.network)
        empty = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (config.window, *leaf.shape)), one)
        return MixtureState(new_learner(config), empty, jnp.zeros((), jnp.int32))

    state = jax.jit(init, out_shardings=on_all(mesh))()
    return state.replace(learner=started(state.learner, config.start, params))


def _empty_game(network: MixtureNetwork) -> MixtureGames:
    """A game with the fields that this network learns from."""
    by_card = jnp.zeros((NUM_CARDS, NUM_CARDS), jnp.float16)
    game = MixtureGames(
        states=env.deal(jax.random.key(0)),
        player_type=jnp.zeros(NUM_SEATS, jnp.int8),
        random=jnp.zeros(NUM_CARDS, bool),
    )
    if isinstance(network, DistilledConfig):
        return game.replace(q=by_card)
    if isinstance(network, NetworkConfig):
        return game.replace(value=jnp.zeros(NUM_CARDS), policy=by_card)
    return game


def compile_epoch(
    config: MixtureTrainingConfig,
    players: Sequence[Player],
    mesh: Mesh,
    chunk: int | None = None,
    kept_policy: Params | None = None,
) -> Callable[[MixtureState], tuple[MixtureState, Mapping[str, float]]]:
    """`state -> (state, figures)`: new games, then learning from the window.

    Args:
      kept_policy: for a critic, the parameters whose policy is kept.
    """
    learn = compile_learn(config, mesh)
    shares = list(config.mixture.values())
    me = next((i for i, name in enumerate(config.mixture) if name.endswith(SELF)), None)
    network = make(config.network) if isinstance(config.network, NetworkConfig) else None

    @functools.partial(jax.jit, out_shardings=on_all(mesh))
    def annotated(games: MixtureGames, average: Params, kept: Params) -> MixtureGames:
        if network is None or me is None:
            raise ConfigError("only the games of a critic are annotated")
        return annotate(games, average, kept, network, me, config.td_lambda)

    def play(epoch: int, average: Params) -> MixtureGames:
        """The new games of an epoch, with all that the network learns from."""
        seated = list(players)
        if me is not None:
            params = seated[me].params.replace(network=average)
            seated[me] = replace(seated[me], params=params)
        games = play_mixture(
            *((config.seed, epoch), config.games, seated, shares, mesh, chunk),
            random_play=config.random_play,
            record_q=isinstance(config.network, DistilledConfig),
            versus=me if config.seating == "versus" else None,
        )
        return games if me is None else annotated(games, average, kept_policy)

    @functools.partial(jax.jit, donate_argnums=0, out_shardings=on_all(mesh))
    def put(window, new, first):
        return jax.tree.map(
            lambda old, leaf: jax.lax.dynamic_update_slice_in_dim(old, leaf, first, 0), window, new
        )

    def run_epoch(state: MixtureState) -> tuple[MixtureState, Mapping[str, float]]:
        epoch = int(state.epoch)
        new = play(epoch, state.learner.average)
        window = put(state.window, new, epoch * config.games % config.window)
        filled = min((epoch + 1) * config.games, config.window)
        key = jax.random.fold_in(jax.random.key(config.seed), epoch)
        learner, loss = learn(state.learner, window, filled, key)
        return MixtureState(learner, window, state.epoch + 1), {"loss": float(loss)}

    return run_epoch
