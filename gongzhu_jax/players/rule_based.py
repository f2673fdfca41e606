"""Mr. If: a fixed set of rules of thumb, nearly all of them without chance.

What it avoids is the pig (SQ), the transformer (C10) and big hearts; the sheep (DJ) it keeps for
a trick that it is sure to win.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax.game.cards import (
    CARDS,
    DIAMONDS,
    HEARTS,
    NO_CARD,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    PIG,
    SHEEP,
    SUIT,
    TRANSFORMER,
    card_ids,
)
from gongzhu_jax.game.public_view import PublicView, legal_mask
from gongzhu_jax.players.protocol import Player
from gongzhu_jax.players.random import NoOptions, evenly, from_probabilities

LEAD_DRAWS = 5
"""How often a leader without a safe suit draws for a card that it does not mind to lead."""


def _mask(cards: str) -> np.ndarray:
    return np.isin(CARDS, card_ids(cards))


# A suit with any of these in hand is not safe to lead.
_UNSAFE = _mask("SQ SK SA HQ HK HA C10 CJ CQ CK CA DJ")
# A leader without a safe suit still avoids these.
_BAD_LEAD = _mask("SQ SK SA HA HK C10 CJ CQ CK CA DJ")
_DISCARDS = card_ids("SQ HA SA SK HK C10 CA HQ HJ CK CQ CJ H10 H9 H8 H7 H6 H5")
_DISCARD_ORDER = np.full(NUM_CARDS, NUM_CARDS, np.int8)  # [52] place in the list above
_DISCARD_ORDER[_DISCARDS] = range(len(_DISCARDS))


@functools.cache  # because jit keys its cache on the function object
def make(config: NoOptions) -> Player:
    """The player named "if"."""
    return from_probabilities("if", config, probabilities)


def probabilities(view: PublicView) -> jax.Array:
    """Probability of each card, float32[52]."""
    lead = view.trick[0]
    legal = legal_mask(view)
    follows = jnp.any(legal & (lead // NUM_RANKS == SUIT))
    following = jnp.where(follows, _following(view, legal), _only(_discard(view.hand)))
    return jnp.where(lead == NO_CARD, _leading(view.hand), following)


def _leading(hand: jax.Array) -> jax.Array:
    in_suit = hand.reshape(NUM_SUITS, NUM_RANKS)
    unsafe = jnp.any(in_suit & _UNSAFE.reshape(NUM_SUITS, NUM_RANKS), axis=1)
    safe = jnp.any(in_suit, axis=1) & ~unsafe
    chosen = _only(_highest(hand & (_shortest(hand, safe) == SUIT)))
    return jnp.where(jnp.any(safe), chosen, _unsafe_lead(hand))


def _unsafe_lead(hand: jax.Array) -> jax.Array:
    """Up to five draws for a good card; if all are bad, any card."""
    all_bad = jnp.sum(evenly(hand) * _BAD_LEAD.astype(np.float32)) ** LEAD_DRAWS
    return (1 - all_bad) * evenly(hand & ~_BAD_LEAD) + all_bad * evenly(hand)


def _discard(hand: jax.Array) -> jax.Array:
    """The card to throw away when void in the suit led."""
    order = jnp.where(hand, _DISCARD_ORDER, np.int8(NUM_CARDS))
    listed = jnp.min(order) < NUM_CARDS
    held = jnp.any(hand.reshape(NUM_SUITS, NUM_RANKS), axis=1)
    plain = _highest(hand & (_shortest(hand, held) == SUIT))
    return jnp.where(listed, jnp.argmin(order).astype(jnp.int8), plain)


def _following(view: PublicView, legal: jax.Array) -> jax.Array:
    """The choice of a player who holds cards of the suit led, which are the `legal` ones."""
    suit = view.trick[0] // NUM_RANKS
    top = jnp.max(jnp.where(view.trick // NUM_RANKS == suit, view.trick, np.int8(NO_CARD)))
    last = view.trick[2] != NO_CARD
    below = legal & (top > CARDS)
    hearts = jnp.where(jnp.any(below), _only(_highest(below)), evenly(legal))
    diamonds = jnp.where(
        last & legal[SHEEP] & (top < SHEEP), np.int8(SHEEP), _highest(legal & (CARDS != SHEEP))
    )
    # The pig among spades and the transformer among clubs are avoided in the same way.
    danger = jnp.where(suit == SUIT[PIG], np.int8(PIG), np.int8(TRANSFORMER))
    avoiding = _avoid(danger, legal, top, last & ~jnp.any(view.trick == danger))
    choice = jnp.where(suit == DIAMONDS, diamonds, avoiding)
    choice = jnp.where(jnp.sum(legal) == 1, _highest(legal), choice)
    return jnp.where((suit == HEARTS) & (jnp.sum(legal) > 1), hearts, _only(choice))


def _avoid(danger: jax.Array, legal: jax.Array, top: jax.Array, clean: jax.Array) -> jax.Array:
    """Two or more `legal` cards of the suit of `danger`; `top` is the highest on the table.

    `clean`: playing last, and the dangerous card is not in the trick.
    """
    thrown = jnp.any(legal & (danger == CARDS)) & (top > danger)
    below = legal & (jnp.maximum(top, danger) > CARDS)
    ducking = jnp.where(jnp.any(below), _highest(below), _highest(legal))
    taking = _highest(legal & (danger != CARDS))
    return jnp.where(thrown, danger, jnp.where(clean, taking, ducking))


def _highest(mask: jax.Array) -> jax.Array:
    """The highest card of a mask, int8; NO_CARD if it is empty."""
    return jnp.max(jnp.where(mask, CARDS, np.int8(NO_CARD)))


def _shortest(hand: jax.Array, among: jax.Array) -> jax.Array:
    """The suit of which `hand` has the fewest cards, of the suits bool[4]; ties to the first."""
    length = jnp.sum(hand.reshape(NUM_SUITS, NUM_RANKS), axis=1)
    return jnp.argmin(jnp.where(among, length, NUM_CARDS)).astype(jnp.int8)


def _only(card: jax.Array) -> jax.Array:
    return (card == CARDS).astype(jnp.float32)
