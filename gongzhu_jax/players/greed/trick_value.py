"""What Mr. Greed thinks of one trick: the team's gain, and the relief at getting rid of a card.

The last axis L of all arrays here is the batch: one entry is one game with one deal of its hidden
cards. It is by far the longest, so that all work is a few operations on long vectors. Everything is
a whole number, int32. n is the number of places for the cards of a hand; what is said of "my" team
is meant for the player who decides.
"""

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from gongzhu_jax.game.cards import (
    HEARTS,
    NO_CARD,
    NUM_CARDS,
    NUM_RANKS,
    PIG,
    RANK,
    SHEEP,
    SUIT,
    TRANSFORMER,
    card_id,
)
from gongzhu_jax.game.scoring import PLAIN_POINTS

ILLEGAL = -(2**20)
"""Relief of a card that may not be played: far below every value."""

DOUBLER = 4096
"""What C10 adds to the worth of a trick: far above the points of any, so that a sum tells both."""

KEY_CARDS = (PIG, SHEEP, TRANSFORMER)
"""While one of these has not been seen, the cards above it have a value of their own."""


def _table(values: dict[str, int]) -> np.ndarray:
    table = np.zeros(NUM_CARDS + 1, np.int32)  # one more for empty places
    for name, value in values.items():
        table[card_id(name)] = value
    return table


def _base_relief() -> np.ndarray:
    by_rank = np.array([0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11], np.int32)
    high_heart = (SUIT == HEARTS) & (RANK[card_id("H10")] < RANK)
    return np.append(np.where(high_heart, 0, by_rank[RANK]), ILLEGAL).astype(np.int32)


_BASE = _base_relief()
_WORTH = np.append(PLAIN_POINTS, 0).astype(np.int32)
_WORTH[TRANSFORMER] = DOUBLER
_PIG_UNSEEN = _table({"SA": 50, "SK": 30})
_SHEEP_UNSEEN = _table({"DA": -30, "DK": -20, "DQ": -10})
_TENTHS_UNSEEN = _table({"CA": 4, "CK": 3, "CQ": 2, "CJ": 1})  # of what C10 would double


class Stakes(struct.PyTreeNode):
    """What it means if one of the four players wins the trick. [L]"""

    factor: (
        jax.Array
    )  # factor of the points: 2 if the winner holds C10, else 1; negative for the others
    own: jax.Array  # what C10 would double besides: points taken and a share of those to come


class Replies(struct.PyTreeNode):
    """What a player may do who has yet to play to a trick of which the suit is known."""

    strength: jax.Array  # [n, L] the card if it is of that suit, else NO_CARD: the highest wins
    worth: jax.Array  # [n, L] plain points, and DOUBLER for C10
    relief: jax.Array  # [n, L] ILLEGAL where the card may not be played
    stakes: Stakes
    side: int = struct.field(pytree_node=False)  # 1 in my team, -1 in the other


class Trick(struct.PyTreeNode):
    """A trick on its way. [L]"""

    strength: jax.Array  # strength of the card that takes it so far
    worth: jax.Array  # plain points in it, and DOUBLER if C10 is
    stakes: Stakes  # stakes of the player who takes it so far

    def play(self, strength: jax.Array, worth: jax.Array, stakes: Stakes) -> "Trick":
        """The trick with one card more."""
        takes = strength > self.strength
        return Trick(
            strength=jnp.where(takes, strength, self.strength),
            worth=self.worth + worth,
            stakes=jax.tree.map(lambda new, old: jnp.where(takes, new, old), stakes, self.stakes),
        )

    def gain(self) -> jax.Array:
        """Points of the finished trick for my team."""
        doubled = 2 * self.worth + (self.stakes.own - 2 * DOUBLER)
        return self.stakes.factor * jnp.where(self.worth > DOUBLER // 2, doubled, self.worth)


def lead(card: jax.Array, stakes: Stakes) -> Trick:
    """The trick with its first card."""
    return Trick(strength=card, worth=_lookup(_WORTH, card), stakes=stakes)


def add(trick: Trick, suit: jax.Array, card: jax.Array, stakes: Stakes) -> Trick:
    """The trick, of which the `suit` is given, with one card more."""
    strength = jnp.where(suit_of(card) == suit, card, NO_CARD)
    return trick.play(strength, _lookup(_WORTH, card), stakes)


def suit_of(card: jax.Array) -> jax.Array:
    """Suits of cards; 4 for an empty place."""
    return jax.lax.div(card, jnp.int32(NUM_RANKS))  # no card is negative


def replies(
    cards: jax.Array, suit: jax.Array, relief: jax.Array, stakes: Stakes, side: int
) -> Replies:
    """What the holder of `cards` [n, L] may do when `suit` [L] was led."""
    follows = suit_of(cards) == suit[None]
    legal = follows | ~jnp.any(follows, axis=0)[None]
    return Replies(
        strength=jnp.where(follows, cards, NO_CARD),
        worth=_lookup(_WORTH, cards),
        relief=jnp.where(legal, relief, ILLEGAL),
        stakes=stakes,
        side=side,
    )


def relief(cards: jax.Array, seen: list[jax.Array], doubled: jax.Array) -> jax.Array:
    """Relief at playing each of `cards` [n, L]; ILLEGAL for empty places.

    `seen` [L] says which of KEY_CARDS a player knows of, `doubled` [L] what C10 would double for
    the player who decides.
    """
    pig, sheep, transformer = (known[None] for known in seen)
    # Rounded towards zero, as the sign is taken out first.
    doubled = doubled[None]
    danger = -jnp.sign(doubled) * ((jnp.abs(doubled) * _lookup(_TENTHS_UNSEEN, cards)) // 10)
    return (
        _lookup(_BASE, cards)
        + jnp.where(pig, 0, _lookup(_PIG_UNSEEN, cards))
        + jnp.where(sheep, 0, _lookup(_SHEEP_UNSEEN, cards))
        + jnp.where(transformer, 0, danger)
    )


def gain_after_replies(trick: Trick, players: list[Replies]) -> jax.Array:
    """Gain of my team, [L], when `players` play one after the other to the end.

    Each knows all hands and takes the card with the best gain of its own team plus its own relief,
    ties to the first.
    """
    if not players:
        return trick.gain()
    player, *later = players
    n = player.relief.shape[0]
    cards = (player.strength, player.worth)

    def play(card):
        return gain_after_replies(trick.play(*card, player.stakes), later)

    # Loops over the cards of all players but the last. Its cards are written out one by one, so
    # that all about them stays in registers: several times faster than an axis and a reduction.
    if later:
        gain_of = jax.lax.map(play, cards)
    else:
        gain_of = [play((cards[0][i], cards[1][i])) for i in range(n)]
    best_gain = gain_of[0]
    best_value = player.side * best_gain + player.relief[0]
    for i in range(1, n):
        value = player.side * gain_of[i] + player.relief[i]
        better = value > best_value
        best_value = jnp.where(better, value, best_value)
        best_gain = jnp.where(better, gain_of[i], best_gain)
    return best_gain


def _lookup(table: np.ndarray, cards: jax.Array) -> jax.Array:
    return jnp.asarray(table).at[cards].get(mode="promise_in_bounds")
