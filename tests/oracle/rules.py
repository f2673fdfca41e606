"""The rules of Gongzhu in plain Python.

Cards are 0..51 = S2..SA, H2..HA, D2..DA, C2..CA; seats 0..3 play in turn; teams are 0+2 and 1+3.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

SPADES, HEARTS, DIAMONDS, CLUBS = range(4)
RANKS = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"]


def card_id(name: str) -> int:
    """The id of a card by name, e.g. 'SQ' or 'C10'."""
    return "SHDC".index(name[0]) * 13 + RANKS.index(name[1:])


def card_name(card: int) -> str:
    return "SHDC"[card // 13] + RANKS[card % 13]


SUIT = [card // 13 for card in range(52)]
SQ, DJ, C10 = card_id("SQ"), card_id("DJ"), card_id("C10")
POINT_CARDS = [*range(13, 26), SQ, DJ, C10]

# Plain points; C10 has none of its own, it acts on the others.
POINTS = [0] * 52
POINTS[13:26] = [0, 0, 0, -10, -10, -10, -10, -10, -10, -20, -30, -40, -50]
POINTS[SQ] = -100
POINTS[DJ] = 100
_IS_POINT_CARD = [card in POINT_CARDS for card in range(52)]


def score(cards: Iterable[int]) -> int:
    """What one player scores for the cards taken, by the full rules."""
    won = [card for card in cards if _IS_POINT_CARD[card]]
    if won == [C10]:  # zero-point hearts count as company
        return 50
    total = sum(POINTS[card] for card in won)
    if sum(SUIT[card] == HEARTS for card in won) == 13:
        total += 400  # the hearts count +200 and not -200
    return 2 * total if C10 in won else total


class Game:
    """A game in progress: everything is open, `legal` and `play` keep the rules."""

    def __init__(self, owners: Iterable[int], leader: int, cards: Iterable[int] = ()) -> None:
        self.owners = list(owners)
        self.leader = leader
        self.plays: list[tuple[int, int]] = []
        self.trick: list[tuple[int, int]] = []
        self.taken: list[list[int]] = [[], [], [], []]
        self.winners: list[int] = []
        # hands[seat][suit] is ascending, so a hand in suit order is ascending too.
        self.hands: list[list[list[int]]] = [[[], [], [], []] for _ in range(4)]
        for card, seat in enumerate(self.owners):
            self.hands[seat][SUIT[card]].append(card)
        self._voids = [[False] * 4 for _ in range(4)]
        self._mover = leader
        for card in cards:
            self.play(card)

    def copy(self) -> Game:
        new = Game.__new__(Game)
        new.owners = self.owners  # never changed after the deal
        new.leader = self.leader
        new.plays = self.plays.copy()
        new.trick = self.trick.copy()
        new.taken = [cards.copy() for cards in self.taken]
        new.winners = self.winners.copy()
        new.hands = [[suit.copy() for suit in hand] for hand in self.hands]
        new._voids = [row.copy() for row in self._voids]
        new._mover = self._mover
        return new

    def player_to_move(self) -> int:
        """Who plays next; after the last card, the winner of the last trick."""
        return self._mover

    def hand(self, seat: int) -> list[int]:
        """The cards that a seat still holds, ascending."""
        spades, hearts, diamonds, clubs = self.hands[seat]
        return spades + hearts + diamonds + clubs

    def legal(self) -> list[int]:
        """Legal cards of the player to move, ascending: follow suit if possible."""
        if self.trick:
            follow = self.hands[self._mover][SUIT[self.trick[0][1]]]
            if follow:
                return follow.copy()
        return self.hand(self._mover)

    def play(self, card: int) -> None:
        """Play a card for the player to move; ValueError if it may not be played."""
        seat = self._mover
        hand = self.hands[seat]
        suit = SUIT[card]
        if card not in hand[suit]:
            raise ValueError(f"seat {seat} does not hold {card_name(card)}")
        if self.trick:
            led = SUIT[self.trick[0][1]]
            if suit != led:
                if hand[led]:
                    raise ValueError(f"seat {seat} must follow {'SHDC'[led]}")
                self._voids[seat][led] = True
        hand[suit].remove(card)
        self.trick.append((seat, card))
        self.plays.append((seat, card))
        if len(self.trick) == 4:
            self._finish_trick()
        else:
            self._mover = (seat + 1) % 4

    def _finish_trick(self) -> None:
        """The highest card of the suit led takes the trick, and its player leads the next."""
        winner, best = self.trick[0]
        for seat, card in self.trick[1:]:
            if SUIT[card] == SUIT[best] and card > best:
                winner, best = seat, card
        self.taken[winner].extend([card for _, card in self.trick])
        self.winners.append(winner)
        self.trick = []
        self._mover = winner

    def is_terminal(self) -> bool:
        return len(self.plays) == 52

    def scores(self) -> list[int]:
        """The score of each seat if the game stopped now."""
        return [score(cards) for cards in self.taken]

    def margin(self, seat: int) -> int:
        """The seat's team minus the other team, on what has been taken so far."""
        s = self.scores()
        even = s[0] + s[2] - s[1] - s[3]
        return even if seat % 2 == 0 else -even

    def voids(self) -> list[list[bool]]:
        """voids()[seat][suit]: the seat has discarded on a lead of that suit."""
        return [row.copy() for row in self._voids]


def random_deal(rng: random.Random) -> list[int]:
    """A uniform deal, as the owner of each card."""
    owners = [0] * 13 + [1] * 13 + [2] * 13 + [3] * 13
    rng.shuffle(owners)
    return owners


def random_game(rng: random.Random) -> Game:
    """A game on a uniform deal, with a uniform leader, of uniform legal cards."""
    game = Game(random_deal(rng), rng.randrange(4))
    while not game.is_terminal():
        game.play(rng.choice(game.legal()))
    return game
