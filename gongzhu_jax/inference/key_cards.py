"""Key cards: those whose placement makes the strata (section 5).

The paper takes them "based on the statistics of the trained network"; the original program had a
fixed list. Both are here as orders, of which the first unseen cards are taken.
"""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax.game.cards import (
    NO_CARD,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    PIG,
    SHEEP,
    TRANSFORMER,
    card_ids,
)
from gongzhu_jax.game.public_view import PublicView, unseen_mask

_FOLLOWING = (
    "SQ SA SK SJ S10",
    "HA HK HQ HJ H10",
    "DJ DA DK DQ D10",
    "C10 CA CK CQ CJ",
)
# When leading: groups of candidates, each only while its point card is unseen.
_LEADING = (
    (PIG, "SQ SA SK"),
    (SHEEP, "DJ DA DK DQ"),
    (NO_CARD, "HA HK HQ"),
    (TRANSFORMER, "C10 CA CK CQ CJ"),
)
# All cards by the spread of their values in games of the shipped network, the largest first
# (results/card_statistics.json): the higher it is, the more depends on who holds the card.
_BY_SPREAD = (
    "DJ SQ HA H5 HK H8 H7 SK C10 SA HQ DA H2 H3 H6 H4 H10 D2 H9 DK S4 S2 HJ D4 C2 S5 "
    "S6 S7 S3 D3 S10 DQ S8 D7 SJ C3 D8 S9 CA D6 D9 D5 D10 C6 C5 C4 CK C9 CQ C8 C7 CJ"
)
ORDERS = ("list", "statistics")


@functools.cache
def _priorities(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """[5, 52]: place of each card in the order for suit led S H D C, or leading; and [52]: the card
    that must be unseen for a card to be key when leading."""
    absent = NUM_CARDS
    order = np.full((NUM_SUITS + 1, NUM_CARDS), absent, np.int32)
    needs = np.full(NUM_CARDS, NO_CARD, np.int32)
    if kind == "statistics":
        by_spread = np.asarray(card_ids(_BY_SPREAD))
        order[NUM_SUITS, by_spread] = np.arange(NUM_CARDS)
        for suit in range(NUM_SUITS):
            here = by_spread[by_spread // NUM_RANKS == suit]
            order[suit, here] = np.arange(NUM_RANKS)
        return order, needs
    for suit, names in enumerate(_FOLLOWING):
        order[suit, card_ids(names)] = np.arange(5)
    place = itertools.count()
    for point_card, names in _LEADING:
        for card in card_ids(names):
            order[NUM_SUITS, card] = next(place)
            needs[card] = point_card
    return order, needs


def key_cards(view: PublicView, count: int, order: str = "list") -> jax.Array:
    """The first `count` unseen cards of the order for this decision, int32; NO_CARD for none."""
    places, needs = _priorities(order)
    unseen = unseen_mask(view)
    lead = view.trick[0]
    row = jnp.where(lead == NO_CARD, NUM_SUITS, lead // NUM_RANKS)
    point_card_unseen = jnp.where(needs == NO_CARD, True, unseen[needs])
    eligible = unseen & ((row < NUM_SUITS) | point_card_unseen)
    place = jnp.where(eligible, jnp.asarray(places)[row], NUM_CARDS)
    chosen = []
    for _ in range(count):
        card = jnp.argmin(place)
        chosen.append(jnp.where(place[card] < NUM_CARDS, card, NO_CARD))
        place = place.at[card].set(NUM_CARDS)
    return jnp.stack(chosen).astype(jnp.int32) if chosen else jnp.zeros((0,), jnp.int32)
