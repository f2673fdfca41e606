"""One game on the host, play by play, in plain Python types.

The compiled rules are made for batches: one call into them costs more than all else that a server
does for a play. Tests hold the two together.
"""

from collections.abc import Sequence

from gongzhu_jax.errors import IllegalPlayError
from gongzhu_jax.game.cards import (
    CARD_NAMES,
    HEARTS,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SEATS,
    POINT_CARDS,
    SUIT_NAMES,
    TRANSFORMER,
)
from gongzhu_jax.game.scoring import ALL_HEARTS, LONE_TRANSFORMER, PLAIN_POINTS

_SUIT = [card // NUM_RANKS for card in range(NUM_CARDS)]
_POINTS = PLAIN_POINTS.tolist()
_POINT_CARDS = frozenset(POINT_CARDS.tolist())
_HEARTS = frozenset(card for card in range(NUM_CARDS) if _SUIT[card] == HEARTS)
_PLAIN_HEARTS = sum(_POINTS[card] for card in _HEARTS)


class HostGame:
    """A game in progress, hidden cards included; `play` keeps the rules."""

    def __init__(self, owners: Sequence[int], leader: int) -> None:
        self.owners = tuple(owners)  # [52] seat that was dealt each card
        self.leader = leader  # of the first trick
        self.plays: list[int] = []
        self.leaders = [leader]  # of each trick so far; the last one leads the open trick
        self.hands: list[set[int]] = [set() for _ in range(NUM_SEATS)]
        self.taken: list[list[int]] = [[] for _ in range(NUM_SEATS)]  # point cards by taker
        for card, seat in enumerate(self.owners):
            self.hands[seat].add(card)

    @property
    def stage(self) -> int:
        """Number of cards played."""
        return len(self.plays)

    @property
    def over(self) -> bool:
        return len(self.plays) == NUM_CARDS

    @property
    def to_move(self) -> int:
        """The seat to play; at the end, the winner of the last trick."""
        return (self.leaders[-1] + len(self.plays)) % NUM_SEATS

    @property
    def trick(self) -> list[int]:
        """Cards on the table in the order played."""
        return self.plays[len(self.plays) - len(self.plays) % NUM_SEATS :]

    def legal(self) -> list[int]:
        """Cards that the seat to move may play, ascending."""
        hand = sorted(self.hands[self.to_move])
        trick = self.trick
        following = [card for card in hand if trick and _SUIT[card] == _SUIT[trick[0]]]
        return following or hand

    def play(self, card: int) -> int | None:
        """Plays `card` for the seat to move; the seat that takes the trick, if it is full now.

        Raises `IllegalPlayError`, and nothing has changed, if it may not be played.
        """
        if card not in self.legal():
            raise IllegalPlayError(self._why_not(card))
        self.hands[self.to_move].remove(card)
        self.plays.append(card)
        return self._take_trick() if len(self.plays) % NUM_SEATS == 0 else None

    def last_trick(self) -> tuple[int, list[int], int] | None:
        """Leader, cards in the order played, and winner of the last full trick."""
        end = len(self.plays) - len(self.plays) % NUM_SEATS
        if end == 0:
            return None
        return self.leaders[-2], self.plays[end - NUM_SEATS : end], self.leaders[-1]

    def scores(self) -> list[int]:
        """Points of each seat by the full rules on what has been taken so far."""
        return [_score(cards) for cards in self.taken]

    def _take_trick(self) -> int:
        trick, leader = self.plays[-NUM_SEATS:], self.leaders[-1]
        best = max(card for card in trick if _SUIT[card] == _SUIT[trick[0]])
        winner = (leader + trick.index(best)) % NUM_SEATS
        self.leaders.append(winner)
        self.taken[winner] += [card for card in trick if card in _POINT_CARDS]
        return winner

    def _why_not(self, card: int) -> str:
        """Says nothing about the hands of others."""
        if self.over:
            return "the game is over"
        name, seat = CARD_NAMES[card], self.to_move
        if card not in self.hands[seat]:
            return f"seat {seat} does not hold {name}"
        return f"{name} may not be played: seat {seat} must follow {SUIT_NAMES[self.led_suit()]}"

    def led_suit(self) -> int:
        return _SUIT[self.trick[0]]


def _score(cards: list[int]) -> int:
    if cards == [TRANSFORMER]:
        return LONE_TRANSFORMER
    points = sum(_POINTS[card] for card in cards)
    if _HEARTS.issubset(cards):
        points += ALL_HEARTS - _PLAIN_HEARTS
    return 2 * points if TRANSFORMER in cards else points
