"""Checks of deals and histories from outside, on the host, with errors for people."""

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from gongzhu_jax.errors import DealError, IllegalPlayError
from gongzhu_jax.game.cards import (
    CARD_NAMES,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SEATS,
    NUM_SUITS,
    SUIT,
    SUIT_NAMES,
    card_ids,
)


def check_seat(seat: object, what: str = "seat") -> int:
    """`seat` as an int from 0 to 3, else `DealError`."""
    if isinstance(seat, bool) or not isinstance(seat, int | np.integer) or not 0 <= seat < 4:
        raise DealError(f"{what} must be a seat from 0 to 3, not {seat!r}")
    return int(seat)


def check_owners(owners: Sequence[int]) -> np.ndarray:
    """Owner seats of the 52 cards as int8[52]: 13 cards each, else `DealError`."""
    if len(owners) != NUM_CARDS:
        raise DealError(f"a deal names the owner of {NUM_CARDS} cards, not of {len(owners)}")
    seats = [check_seat(seat, f"owner of {CARD_NAMES[c]}") for c, seat in enumerate(owners)]
    for seat in range(NUM_SEATS):
        if seats.count(seat) != NUM_RANKS:
            raise DealError(f"seat {seat} has {seats.count(seat)} cards, not {NUM_RANKS}")
    return np.array(seats, np.int8)


def owners_from_hands(hands: Sequence[str | Iterable[str | int]]) -> np.ndarray:
    """Owner seats int8[52] from four hands of 13 cards (names, ids, or one text each)."""
    if len(hands) != NUM_SEATS:
        raise DealError(f"a deal has {NUM_SEATS} hands, not {len(hands)}")
    owners = np.full(NUM_CARDS, -1, np.int8)
    for seat, hand in enumerate(hands):
        for card in card_ids(hand):
            if owners[card] >= 0:
                raise DealError(f"{CARD_NAMES[card]} is dealt twice (seats {owners[card]}, {seat})")
            owners[card] = seat
    for card in np.flatnonzero(owners < 0):
        raise DealError(f"{CARD_NAMES[card]} is in no hand")
    return check_owners(owners.tolist())


def check_distinct(hand: list[int], plays: list[int]) -> None:
    """No card twice in a hand, twice in a history, or in both."""
    seen: dict[int, str] = {}
    for card in hand:
        if card in seen:
            raise DealError(f"{CARD_NAMES[card]} is twice in the hand")
        seen[card] = "in the hand"
    for number, card in enumerate(plays, start=1):
        if card in seen:
            where = seen[card]
            raise IllegalPlayError(f"play {number}: {CARD_NAMES[card]} is already {where}")
        seen[card] = f"played (play {number})"


def check_known(seat: int, hand: list[int], plays: list[int], seats: list[int]) -> None:
    """What `seat` sees could be a game: its hand has the right size, everybody followed suit as
    far as can be known, and the unseen cards can be dealt to the others."""
    expected = NUM_RANKS - seats.count(seat)
    if len(hand) != expected:
        raise DealError(f"seat {seat} must hold {expected} cards after its plays, not {len(hand)}")
    voids = _check_following(seat, hand, plays, seats)
    _check_feasible(seat, hand, plays, seats, voids)


def explain_illegal(owners: Sequence[int], plays: Sequence[int], seat: int, number: int) -> str:
    """Says why play `number` (from 0) of a full-information game is not legal for `seat`."""
    card = plays[number]
    name = CARD_NAMES[card]
    if card in list(plays[:number]):
        return f"play {number + 1}: {name} was already played"
    if owners[card] != seat:
        return f"play {number + 1}: seat {seat} does not hold {name} (seat {owners[card]} does)"
    suit = SUIT_NAMES[SUIT[plays[number - number % NUM_SEATS]]]
    return f"play {number + 1}: seat {seat} plays {name} but must follow suit {suit}"


def _check_following(seat: int, hand: list[int], plays: list[int], seats: list[int]) -> np.ndarray:
    voids = np.zeros((NUM_SEATS, NUM_SUITS), bool)
    for number, (player, card) in enumerate(zip(seats, plays, strict=True)):
        lead = SUIT[plays[number - number % NUM_SEATS]]
        if SUIT[card] == lead:
            continue
        voids[player, lead] = True
        kept = [c for p, c in zip(seats[number:], plays[number:], strict=True) if p == player]
        kept += hand if player == seat else []
        for other in kept:
            if SUIT[other] == lead:
                raise IllegalPlayError(
                    f"play {number + 1}: seat {player} plays {CARD_NAMES[card]} "
                    f"but holds {CARD_NAMES[other]} and must follow suit {SUIT_NAMES[lead]}"
                )
    return voids


def _check_feasible(
    seat: int, hand: list[int], plays: list[int], seats: list[int], voids: np.ndarray
) -> None:
    unseen = np.bincount(SUIT[sorted(set(range(NUM_CARDS)) - set(hand) - set(plays))], minlength=4)
    room = {s: NUM_RANKS - seats.count(s) for s in range(NUM_SEATS) if s != seat}
    for size in range(len(room)):
        for group in combinations(room, size):
            # Hall's condition: suits that nobody outside the group can hold must fit into it.
            others = [s for s in room if s not in group]
            bound = sum(int(unseen[u]) for u in range(NUM_SUITS) if voids[others, u].all())
            if bound > sum(room[s] for s in group):
                raise IllegalPlayError(
                    "no deal of the unseen cards agrees with the hand sizes and shown voids"
                )
