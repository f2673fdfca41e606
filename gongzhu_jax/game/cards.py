"""Cards, suits, seats and teams as small integers, their names, and counting in sets of cards.

A card is `13 * suit + rank`: S2..SA = 0..12, H2..HA = 13..25, D2..DA = 26..38, C2..CA = 39..51.
Seats are 0..3 in playing order; seats 0 and 2 are one team, 1 and 3 the other.
"""

from collections.abc import Iterable

import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax.errors import CardError

NUM_CARDS = 52
NUM_SEATS = 4
NUM_SUITS = 4
NUM_RANKS = 13
NUM_TRICKS = 13

NO_CARD = -1
"""Stands for a card that is not there yet, in a list of cards."""
NOBODY = -1
"""Stands for no seat, in a list of seats: none yet, or none any more."""

SUIT_NAMES = "SHDC"
RANK_NAMES = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")
CARD_NAMES = tuple(suit + rank for suit in SUIT_NAMES for rank in RANK_NAMES)
_IDS = {name: card for card, name in enumerate(CARD_NAMES)}

SPADES, HEARTS, DIAMONDS, CLUBS = range(NUM_SUITS)
CARDS = np.arange(NUM_CARDS, dtype=np.int8)  # all of them, to compare arrays with
SEATS = np.arange(NUM_SEATS, dtype=np.int8)
SUITS = np.arange(NUM_SUITS, dtype=np.int8)
SUIT = CARDS // NUM_RANKS  # [52] suit of each card
RANK = CARDS % NUM_RANKS  # [52] 0 for a two, 12 for an ace

PIG = _IDS["SQ"]
SHEEP = _IDS["DJ"]
TRANSFORMER = _IDS["C10"]

POINT_CARDS = np.array([*range(13, 26), PIG, SHEEP, TRANSFORMER], dtype=np.int8)
"""[16] H2..HA, SQ, DJ, C10: the cards that count for "the transformer alone"."""


def card_id(card: str | int) -> int:
    """The id of a card given by name ("SQ", "c10") or by id; `CardError` if there is none."""
    if isinstance(card, str):
        try:
            return _IDS[card.strip().upper()]
        except KeyError:
            raise CardError(f"unknown card name {card!r}; names look like SQ, H2, C10") from None
    if isinstance(card, bool) or not isinstance(card, int | np.integer):
        raise CardError(f"a card is a name or an id from 0 to 51, not {card!r}")
    if not 0 <= card < NUM_CARDS:
        raise CardError(f"unknown card id {card}; ids go from 0 to 51")
    return int(card)


def card_ids(cards: str | Iterable[str | int]) -> list[int]:
    """Ids of several cards: an iterable of names or ids, or one text such as "SQ H2 C10"."""
    items = cards.replace(",", " ").split() if isinstance(cards, str) else cards
    return [card_id(card) for card in items]


def card_names(cards: Iterable[int] | int) -> str:
    """Names of card ids, separated by blanks; for a single id, as players return it, one name."""
    return " ".join(CARD_NAMES[card_id(int(card))] for card in np.atleast_1d(np.asarray(cards)))


def same_team(seat, other):
    """Whether two seats are partners (or one and the same). Works on arrays."""
    return (seat - other) % 2 == 0


# Sets of cards, bool[52], without gathers or sorts: a product with this matrix is a running count,
# and on every backend it beats a cumulative sum.
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
