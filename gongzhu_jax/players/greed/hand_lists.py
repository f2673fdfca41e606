"""Hands as lists of card ids in ascending order, made from masks of 52 cards by way of bits."""

import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax.game.cards import NUM_CARDS

NO_PLACE = NUM_CARDS
"""The card id in an empty place: one above the last, so that tables of cards can have an entry."""

_HALF = NUM_CARDS // 2
_BITS = (1 << np.arange(_HALF)).astype(np.int32)


def bit_sets(mask: jax.Array) -> jax.Array:
    """Masks [..., 52] as bits, int32[2, ...]: the lower 26 cards and the upper."""
    halves = mask.reshape(*mask.shape[:-1], 2, _HALF)
    bits = np.broadcast_to(_BITS, halves.shape)
    return jnp.moveaxis(jnp.sum(jnp.where(halves, bits, 0), axis=-1, dtype=jnp.int32), -1, 0)


def has_card(hands: jax.Array, card: int) -> jax.Array:
    """Whether hands, as `bit_sets` [2, ...], contain `card`: bool[...]."""
    return (hands[card // _HALF] >> (card % _HALF)) & 1 == 1


def card_lists(hands: jax.Array, n: int) -> jax.Array:
    """The first `n` cards of hands given as `bit_sets` [2, ...]: int32[n, ...]."""

    def take_lowest(hands, _):
        low, high = hands
        in_low = low != 0
        card = jnp.where(in_low, _lowest_bit(low), _HALF + _lowest_bit(high))
        rest = jnp.where(in_low, low & (low - 1), low), jnp.where(in_low, high, high & (high - 1))
        return rest, jnp.where(in_low | (high != 0), card, NO_PLACE)

    return jax.lax.scan(take_lowest, (hands[0], hands[1]), length=n)[1]


def _lowest_bit(word: jax.Array) -> jax.Array:
    return 31 - jax.lax.clz(word & -word)
