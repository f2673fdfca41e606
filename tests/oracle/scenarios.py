"""Deals of the unseen cards, counted exactly, and the strata of the stratified sampler.

Opponents are numbered 0, 1, 2; `sizes` and `void` ([3][4], suits S H D C) are in that order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from math import comb

from tests.oracle.rules import C10, DJ, SQ, SUIT, card_id

Voids = Sequence[Sequence[int]]

_FOLLOWING = [
    [card_id(name) for name in row.split()]
    for row in ("SQ SA SK SJ S10", "HA HK HQ HJ H10", "DJ DA DK DQ D10", "C10 CA CK CQ CJ")
]
# When leading: cards, and the card that must still be unseen for them to matter.
_LEADING = [
    ([card_id(name) for name in row.split()], gate)
    for row, gate in (
        ("SQ SA SK", SQ),
        ("DJ DA DK DQ", DJ),
        ("HA HK HQ", None),
        ("C10 CA CK CQ CJ", C10),
    )
]


def count_deals(unknown: Sequence[int], sizes: Sequence[int], void: Voids) -> int:
    """How many ways there are to deal the unknown cards, suit by suit."""
    if sum(sizes) != len(unknown) or min(sizes) < 0:
        return 0
    in_suit = [sum(SUIT[card] == suit for card in unknown) for suit in range(4)]

    @cache
    def rest(suit: int, room: tuple[int, ...]) -> int:
        if suit == 4:
            return int(not any(room))
        n = in_suit[suit]
        most = [0 if void[i][suit] else min(room[i], n) for i in range(3)]
        total = 0
        for a in range(most[0] + 1):
            for b in range(min(most[1], n - a) + 1):
                c = n - a - b
                if c <= most[2]:
                    ways = comb(n, a) * comb(n - a, b)
                    total += ways * rest(suit + 1, (room[0] - a, room[1] - b, room[2] - c))
        return total

    return rest(0, tuple(sizes))


def enumerate_deals(
    unknown: Sequence[int], sizes: Sequence[int], void: Voids
) -> Iterator[tuple[int, ...]]:
    """Every deal, as the opponent (0, 1, 2) who gets each unknown card; for small cases."""
    if not unknown:
        if not any(sizes):
            yield ()
        return
    for i in range(3):
        if sizes[i] and not void[i][SUIT[unknown[0]]]:
            left = [size - (j == i) for j, size in enumerate(sizes)]
            for tail in enumerate_deals(unknown[1:], left, void):
                yield (i, *tail)


def count_with(
    placed: dict[int, int], unknown: Sequence[int], sizes: Sequence[int], void: Voids
) -> int:
    """How many deals give each card of `placed` to its opponent."""
    if any(void[i][SUIT[card]] for card, i in placed.items()):
        return 0
    owners = list(placed.values())
    left = [size - owners.count(i) for i, size in enumerate(sizes)]
    return count_deals([card for card in unknown if card not in placed], left, void)


def owner_counts(unknown: Sequence[int], sizes: Sequence[int], void: Voids) -> list[list[int]]:
    """[unknown][3]: in how many deals each opponent gets each card."""
    return [[count_with({card: i}, unknown, sizes, void) for i in range(3)] for card in unknown]


def key_cards(hand: Sequence[int], trick: Sequence[int], plays: Sequence[int]) -> list[int]:
    """The first two unseen cards of the list for this decision.

    `trick` are the cards on the table (empty when leading), `plays` all cards played, table
    included. The suit led decides also for a player who cannot follow it.
    """
    seen = {*hand, *trick, *plays}
    if trick:
        wanted = _FOLLOWING[SUIT[trick[0]]]
    else:
        wanted = [card for row, gate in _LEADING if gate not in seen for card in row]
    return [card for card in wanted if card not in seen][:2]


def strata(
    keys: Sequence[int],
    unknown: Sequence[int],
    sizes: Sequence[int],
    void: Voids,
    opp: Sequence[int],
) -> dict[tuple[int, ...], int]:
    """Exact number of deals of each feasible placement of the key cards.

    Placements are tuples of seats; opponent i sits at opp[i].
    """
    counts = {}
    for owners in product(range(3), repeat=len(keys)):
        n = count_with(dict(zip(keys, owners, strict=True)), unknown, sizes, void)
        if n:
            counts[tuple(opp[i] for i in owners)] = n
    return counts


def draws_per_stratum(feasible: int, total: int = 9) -> int:
    """Deals drawn in each of the feasible strata; the rest of the total is not used."""
    return total // feasible


def allowed_placements(keys: Sequence[int], sizes: Sequence[int], void: Voids) -> int:
    """How many placements look possible from the key cards alone.

    Dividing the total by this number, not by the number of feasible strata, gives the draws of
    every golden record with key cards: as if a placement that fails only because the other cards
    do not fit had still taken its share. (The records cannot tell whether sizes matter in it.)
    """
    return sum(
        all(owners.count(i) <= sizes[i] for i in range(3))
        and not any(void[i][SUIT[card]] for card, i in zip(keys, owners, strict=True))
        for owners in product(range(3), repeat=len(keys))
    )
