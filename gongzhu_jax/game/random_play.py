"""Games by uniformly random legal cards: for measurements, tests and varied starts."""

import jax
import jax.numpy as jnp

from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_CARDS, nth_card


def random_card(draw: jax.Array, legal: jax.Array) -> jax.Array:
    """A card of the set `legal`, [52], from one uniform number in 0..1."""
    return nth_card(legal, jnp.floor(draw * jnp.sum(legal, dtype=jnp.float32)))


def play_random(key: jax.Array, state: env.GameState, plays: jax.Array | int) -> env.GameState:
    """The state after `plays` random cards, or at the end of the game."""

    def play(state, item):
        number, draw = item
        after = env.step(state, random_card(draw, env.legal_mask(state)))
        goes_on = (number < jnp.asarray(plays, jnp.int32)) & ~env.is_terminal(state)
        return jax.tree.map(lambda new, old: jnp.where(goes_on, new, old), after, state), None

    items = (jnp.arange(NUM_CARDS), jax.random.uniform(key, (NUM_CARDS,)))
    return jax.lax.scan(play, state, items)[0]


def random_position(key: jax.Array, earliest: int = 0, latest: int = NUM_CARDS - 1):
    """A random deal after a random number of random plays, from `earliest` to `latest`."""
    deal_key, stage_key, play_key = jax.random.split(key, 3)
    plays = jax.random.randint(stage_key, (), earliest, latest + 1)
    return play_random(play_key, env.deal(deal_key), plays)
