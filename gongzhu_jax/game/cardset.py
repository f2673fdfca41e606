"""Counting within sets of cards, bool[52], without gathers or sorts."""

import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax.game.cards import NUM_CARDS

# A product with this matrix is a running count; on every backend it beats a cumulative sum.
_UP_TO = np.triu(np.ones((NUM_CARDS, NUM_CARDS), np.float32))


def running_count(cards: jax.Array) -> jax.Array:
    """How many of the cards up to and including each one are in the set, float32[52]."""
    return jnp.matmul(cards.astype(jnp.float32), _UP_TO, precision=jax.lax.Precision.HIGHEST)


def nth_card(cards: jax.Array, number: jax.Array) -> jax.Array:
    """The card with that number, from 0, in the set, int32; 52 if there are not so many."""
    return jnp.sum(running_count(cards) <= jnp.asarray(number, jnp.float32), dtype=jnp.int32)


def by_card(cards: jax.Array, values: jax.Array, fill: float | int) -> jax.Array:
    """Values [A] of the first, second, ... card of the set, put at their cards, [52]."""
    number = (running_count(cards) - 1).astype(jnp.int32)
    picked = number[:, None] == np.arange(values.shape[0], dtype=np.int32)[None, :]
    spread = jnp.sum(jnp.where(picked, values[None, :], 0), axis=1, dtype=values.dtype)
    return jnp.where(cards, spread, jnp.asarray(fill, values.dtype))
