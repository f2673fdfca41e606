"""One game in plain Python, for programs that step games one by one on the host.

There a call of a compiled program costs many times the rules themselves: a search of OpenSpiel
plays thousands of cards for one decision, a server has hundreds of tables. Inside a callback of a
compiled program none may be made. Tests hold the two together.
"""

import random
from bisect import insort
from collections.abc import Sequence
from typing import Any

import numpy as np

from gongzhu_jax.game import env
from gongzhu_jax.game.cards import (
    HEARTS,
    NO_CARD,
    NOBODY,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SEATS,
    NUM_TRICKS,
    POINT_CARDS,
    SUIT,
    TRANSFORMER,
)
from gongzhu_jax.game.public_view import PublicView, make_view
from gongzhu_jax.game.scoring import ALL_HEARTS, LONE_TRANSFORMER, PLAIN_POINTS

# Plain numbers: those of numpy are slow one by one.
_SUIT: list[int] = SUIT.tolist()
_POINTS: list[int] = PLAIN_POINTS.tolist()
_POINT_CARDS = frozenset(POINT_CARDS.tolist())
_HEARTS = frozenset(card for card in range(NUM_CARDS) if _SUIT[card] == HEARTS)
_TURN_OF_HEARTS = ALL_HEARTS - sum(_POINTS[card] for card in _HEARTS)


class HostGame:
    """A game from the deal on, everything open. Nothing is checked: see `legal`."""

    __slots__ = ("hands", "leaders", "num_dealt", "plays", "taken_by")

    def __init__(self, leader: int) -> None:
        self.hands: list[list[int]] = [[] for _ in range(NUM_SEATS)]  # ascending
        self.leaders = [leader]  # of each trick, that on the table included
        self.num_dealt = 0
        self.plays: list[int] = []
        self.taken_by = [NOBODY] * NUM_CARDS  # seat that has taken each card

    @classmethod
    def from_owners(cls, owners: Sequence[int], leader: int) -> "HostGame":
        """A game that is dealt, from the owner seat of each card, [52]."""
        game = cls(leader)
        game.num_dealt = NUM_CARDS
        game.redeal(owners)
        return game

    @classmethod
    def resume(cls, view: PublicView, holder: Sequence[int]) -> "HostGame":
        """The game of a view, in numpy, if the cards not played are held by `holder`, [52]."""
        stage = int(view.stage)
        game = cls.from_owners(holder, int(view.leaders[0]))
        game.leaders = view.leaders[: stage // NUM_SEATS + 1].tolist()
        game.plays = view.plays[:stage].tolist()
        game.taken_by = view.taken_by.tolist()
        return game

    def copy(self) -> "HostGame":
        new = HostGame.__new__(HostGame)
        new.hands = [hand.copy() for hand in self.hands]
        new.leaders = self.leaders.copy()
        new.num_dealt = self.num_dealt
        new.plays = self.plays.copy()
        new.taken_by = self.taken_by.copy()
        return new

    def __deepcopy__(self, memo: dict) -> "HostGame":
        # OpenSpiel copies states this way, and the usual one takes longer than to play the game.
        return self.copy()

    def deal(self, card: int) -> None:
        """The next card of the deal; seats get one in turn, from seat 0 on."""
        insort(self.hands[self.num_dealt % NUM_SEATS], card)
        self.num_dealt += 1

    @property
    def is_dealt(self) -> bool:
        return self.num_dealt == NUM_CARDS

    @property
    def is_over(self) -> bool:
        return len(self.plays) == NUM_CARDS

    @property
    def mover(self) -> int:
        """The seat to play; when the game is over, the winner of the last trick."""
        return (self.leaders[-1] + len(self.plays)) % NUM_SEATS

    @property
    def trick(self) -> list[int]:
        """Cards on the table in the order played."""
        return self.plays[len(self.plays) // NUM_SEATS * NUM_SEATS :]

    def legal(self) -> list[int]:
        """Cards that the player to move may play, ascending."""
        hand = self.hands[self.mover]
        position = len(self.plays) % NUM_SEATS
        if position == 0:
            return hand.copy()
        suit = _SUIT[self.plays[-position]]
        return [card for card in hand if _SUIT[card] == suit] or hand.copy()

    def play(self, card: int) -> None:
        """The player to move plays a legal card."""
        self.hands[self.mover].remove(card)
        self.plays.append(card)
        if len(self.plays) % NUM_SEATS == 0:
            self._finish_trick()

    def _finish_trick(self) -> None:
        trick = self.plays[-NUM_SEATS:]
        suit = _SUIT[trick[0]]
        best = max(card for card in trick if _SUIT[card] == suit)
        winner = (self.leaders[-1] + trick.index(best)) % NUM_SEATS
        for card in trick:
            self.taken_by[card] = winner
        self.leaders.append(winner)

    def play_randomly(self, generator: random.Random) -> None:
        """Plays to the end of the game, by uniform legal cards."""
        while not self.is_over:
            self.play(generator.choice(self.legal()))

    def redeal(self, holder: Sequence[int]) -> None:
        """Gives the cards that are not played to the seats that `holder`, [52], says."""
        self.hands = [[] for _ in range(NUM_SEATS)]
        for card, seat in enumerate(holder):
            if seat != NOBODY:
                self.hands[seat].append(card)

    def holder(self) -> list[int]:
        """The seat that holds each card, [52]; NOBODY for cards not dealt yet or played."""
        holder = [NOBODY] * NUM_CARDS
        for seat, hand in enumerate(self.hands):
            for card in hand:
                holder[card] = seat
        return holder

    def owners(self) -> list[int]:
        """The seat that was dealt each card, [52]; NOBODY for cards not dealt yet."""
        owners = self.holder()
        for card, seat in zip(self.plays, self.seats(), strict=True):
            owners[card] = seat
        return owners

    def state(self) -> env.GameState:
        """The state of this game in the core, as arrays of numpy."""

        def padded(values: list[int], size: int, filler: int) -> Any:
            return np.array(values + [filler] * (size - len(values)), np.int8)

        return env.GameState(
            holder=padded(self.holder(), NUM_CARDS, NOBODY),
            taken_by=padded(self.taken_by, NUM_CARDS, NOBODY),
            plays=padded(self.plays, NUM_CARDS, NO_CARD),
            leaders=padded(self.leaders, NUM_TRICKS + 1, NOBODY),
            trick=padded(self.trick, NUM_SEATS, NO_CARD),
            stage=padded([len(self.plays)], 1, 0)[0],
        )

    def view(self, seat: int) -> PublicView:
        """What a seat may know, as the players of this package take it."""
        return make_view(seat, self.hands[seat], self.leaders[0], self.plays)

    def seats(self) -> list[int]:
        """Who made each play."""
        return [
            (self.leaders[number // NUM_SEATS] + number) % NUM_SEATS
            for number in range(len(self.plays))
        ]

    def scores(self) -> list[int]:
        """Points of each seat on what has been taken so far."""
        taken: list[set[int]] = [set() for _ in range(NUM_SEATS)]
        for card in _POINT_CARDS:
            if self.taken_by[card] != NOBODY:
                taken[self.taken_by[card]].add(card)
        return [_score(cards) for cards in taken]

    def margins(self) -> list[float]:
        """The points of each seat's team minus those of the other team."""
        points = self.scores()
        margin = float(points[0] + points[2] - points[1] - points[3])
        return [margin, -margin, margin, -margin]


def _score(cards: set[int]) -> int:
    """Points of the point cards that a seat has taken."""
    if cards == {TRANSFORMER}:
        return LONE_TRANSFORMER
    points = sum(_POINTS[card] for card in cards)
    if len(cards) >= NUM_RANKS and cards >= _HEARTS:
        points += _TURN_OF_HEARTS
    return 2 * points if TRANSFORMER in cards else points
