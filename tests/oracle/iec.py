"""Scenario weights: integral over equivalent class (IEC) and naive Bayes, slice by slice."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.oracle import features
from tests.oracle.rules import HEARTS, SUIT, Game, card_name

Policy = Callable[[list[float]], list[float]]

# Policy targets are softmax(0.2 * Q), so a logit over 0.2 is in points.
LOGIT_SCALE = 0.2


def full_deal(leader: int, cards: Sequence[int], scenario: Sequence[int]) -> list[int]:
    """Owners of all 52 cards at the start, from the history and a scenario of the rest.

    Entries of the scenario for played cards are ignored. Who played a card follows from who won
    the trick before, so the owners of the played cards are found trick by trick.
    """
    owners = list(scenario)
    seat = leader
    for start in range(0, len(cards), 4):
        trick = cards[start : start + 4]
        for i, card in enumerate(trick):
            owners[card] = (seat + i) % 4
        best = max(card for card in trick if SUIT[card] == SUIT[trick[0]])
        seat = owners[best]
    return owners


def _follow_suit(cards: Sequence[int]) -> int | None:
    """The suit led in the current trick, also for a player who cannot follow; None if leading."""
    return SUIT[cards[len(cards) // 4 * 4]] if len(cards) % 4 else None


def _counts(card: int, suit: int | None, min_rank: int, suit_rule: bool) -> bool:
    """Is a slice important? Rank 2 is at 0 within its suit."""
    high = card % 13 + 2 >= min_rank
    same_suit = not suit_rule or suit is None or SUIT[card] == suit
    return high and same_suit


def _slices(
    leader: int, cards: Sequence[int], seat: int, scenario: Sequence[int]
) -> Iterator[tuple[Game, int]]:
    """(position before, card) of every slice of the other seats, newest first."""
    owners = full_deal(leader, cards, scenario)
    for t in reversed(range(len(cards))):
        if owners[cards[t]] != seat:
            yield Game(owners, leader, cards[:t]), cards[t]


def _points(game: Game, policy: Policy, inputs: str) -> list[float]:
    """The policy's q, in points, of all 52 cards for the player to move."""
    view = {"averaged": features.averaged, "onehot": features.perfect}[inputs]
    return [p / LOGIT_SCALE for p in policy(view(game))]


def _regret(q: list[float], card: int, legal: list[int], regret: str) -> float:
    if regret == "suit":
        legal = [other for other in legal if SUIT[other] == SUIT[card]]
    elif regret != "all":
        raise ValueError(regret)
    return max(q[other] for other in legal) - q[card]


def _factor(regret: float, beta: float, factor: str) -> float:
    if factor == "exponential":
        return math.exp(-beta * regret)
    if factor == "clipped":
        return max(1.0 - beta * regret, 0.1)
    raise ValueError(factor)


def iec_log_weight(
    leader: int,
    cards: Sequence[int],
    seat: int,
    scenario: Sequence[int],
    policy: Policy,
    *,
    beta: float = 0.015,
    factor: str = "exponential",
    regret: str = "all",
    min_rank: int = 8,
    suit_rule: bool = True,
    inputs: str = "averaged",
) -> tuple[float, list[tuple[int, int, float]]]:
    """Log score of a scenario for the deciding seat, and its (seat, card, factor), newest first.

    factor: 'exponential' (paper) or 'clipped' (original); regret over 'all' legal cards (paper) or
    those of the played card's 'suit' (original); inputs: 'averaged' or 'onehot'.
    """
    suit = _follow_suit(cards)
    log_weight = 0.0
    used = []
    for game, card in _slices(leader, cards, seat, scenario):
        if not _counts(card, suit, min_rank, suit_rule):
            continue
        q = _points(game, policy, inputs)
        gamma = _factor(_regret(q, card, game.legal(), regret), beta, factor)
        log_weight += math.log(gamma)
        used.append((game.player_to_move(), card, gamma))
    return log_weight, used


def bayes_log_weight(
    leader: int,
    cards: Sequence[int],
    seat: int,
    scenario: Sequence[int],
    policy: Policy,
    *,
    beta: float = 0.015,
    min_rank: int = 8,
    suit_rule: bool = True,
    every_slice: bool = False,
    inputs: str = "averaged",
) -> float:
    """Log of the product of gamma(a) / (sum of gamma over the legal cards).

    With `every_slice` all slices of the other seats count, whatever their rank and suit.
    """
    suit = _follow_suit(cards)
    log_weight = 0.0
    for game, card in _slices(leader, cards, seat, scenario):
        if not every_slice and not _counts(card, suit, min_rank, suit_rule):
            continue
        q = _points(game, policy, inputs)
        legal = game.legal()
        gammas = [math.exp(-beta * _regret(q, other, legal, "all")) for other in legal]
        log_gamma = -beta * _regret(q, card, legal, "all")
        log_weight += log_gamma - math.log(sum(gammas))
    return log_weight


def class_log_weight(*position: Any, **settings: Any) -> float:
    """Log of the product of gamma(a) / (Y + J / 3), the paper's integral over an equivalent class
    before its denominators are dropped and without the constant 3^N."""
    slices = class_slices(*position, **settings)
    return sum(math.log(gamma / (y + j / 3)) for gamma, y, j in slices)


def class_slices(
    leader: int,
    cards: Sequence[int],
    seat: int,
    scenario: Sequence[int],
    policy: Policy,
    *,
    beta: float = 0.015,
    min_rank: int = 8,
    suit_rule: bool = True,
    inputs: str = "averaged",
) -> Iterator[tuple[float, float, float]]:
    """gamma of the play, Y and J at every slice that counts.

    Irrelevant are the cards that the deciding seat has not seen, below `min_rank`, without points.
    They are put into the hand of whoever plays, unless it has failed to follow their suit.
    """
    suit = _follow_suit(cards)
    owners = full_deal(leader, cards, scenario)
    void = _voids(leader, cards, owners)
    for game, card in _slices(leader, cards, seat, scenario):
        if not _counts(card, suit, min_rank, suit_rule):
            continue
        mover = game.player_to_move()
        irrelevant = {
            other
            for other in range(52)
            if other not in cards
            and owners[other] != seat
            and other % 13 + 2 < min_rank
            and SUIT[other] != HEARTS
            and card_name(other) not in ("SQ", "DJ", "C10")
            and (mover, SUIT[other]) not in void
        }
        lent = [mover if other in irrelevant else owner for other, owner in enumerate(owners)]
        game = Game(lent, leader, cards[: cards.index(card)])
        q, legal = _points(game, policy, inputs), game.legal()
        gammas = {other: math.exp(-beta * _regret(q, other, legal, "all")) for other in legal}
        total_of_irrelevant = sum(gammas[other] for other in legal if other in irrelevant)
        total_of_others = sum(gammas[other] for other in legal if other not in irrelevant)
        yield gammas[card], total_of_others, total_of_irrelevant


def _voids(leader: int, cards: Sequence[int], owners: Sequence[int]) -> set[tuple[int, int]]:
    """(seat, suit) of everybody who has failed to follow suit."""
    return {
        (owners[card], SUIT[cards[t // 4 * 4]])
        for t, card in enumerate(cards)
        if SUIT[card] != SUIT[cards[t // 4 * 4]]
    }
