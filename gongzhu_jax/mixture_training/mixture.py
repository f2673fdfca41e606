"""Games of a mixture of players, so that what is learnt holds against players of other types."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jax.sharding import Mesh

from gongzhu_jax.evaluation.games import play_games
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_SEATS
from gongzhu_jax.players.protocol import Player


class MixtureGames(struct.PyTreeNode):
    """G finished games, who played them, and what some networks learn from beside them."""

    states: env.GameState  # [G]
    player_type: jax.Array  # [G, 4] int8, the player of the mixture at each seat
    random: jax.Array  # [G, 52] bool, plays drawn at random in place of a decision
    q: jax.Array | None = None  # [G, 52, 52] float16, averaged Q of each decision, else -inf
    value: jax.Array | None = None  # [G, 52] float32, points still to come; NaN: not learnt
    policy: jax.Array | None = None  # [G, 52, 52] float16, the policy to keep at each stage


def play_mixture(
    seed: Sequence[int],
    count: int,
    players: Sequence[Player],
    shares: Sequence[float],
    mesh: Mesh,
    chunk: int | None = None,
    *,
    random_play: float = 0.0,
    record_q: bool = False,
    versus: int | None = None,
) -> MixtureGames:
    """`count` games, on the devices. In half of them partners are of one player type, in the others
    every seat is drawn for itself; or player `versus` has one team in all of them."""
    random = np.random.default_rng(list(seed))
    p = np.asarray(shares, np.float64)
    if versus is not None:
        p = np.where(np.arange(len(p)) == versus, 0.0, p)
    seats = random.choice(len(players), (count, NUM_SEATS), p=p / np.sum(p))
    as_teams = random.random(count) < 0.5
    if versus is None:
        seats = np.where(as_teams[:, None], seats[:, [0, 1, 0, 1]], seats)
    else:  # the other team is one of the others
        seats = np.where(as_teams[:, None] == [True, False, True, False], versus, seats[:, :1])
    key = jax.random.key(int(random.integers(2**31)))
    deals = _deal(jax.random.split(jax.random.fold_in(key, 0), count))
    keys = jax.random.split(jax.random.fold_in(key, 1), count)
    played = play_games(
        *(players, seats, deals.holder, deals.leaders[:, 0], keys),
        mesh=mesh,
        chunk=chunk,
        to_host=False,
        random_play=random_play,
        record_q=record_q,
    )
    player_type = jnp.asarray(seats, jnp.int8)
    q = None if played.q is None else jnp.asarray(played.q)
    return MixtureGames(played.states, player_type, jnp.asarray(played.random), q)


@jax.jit
def _deal(keys: jax.Array) -> env.GameState:
    return jax.vmap(env.deal)(keys)
