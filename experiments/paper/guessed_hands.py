"""Hands around the paper's groups of guessed cards, for its examples of irrelevant cards."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from experiments.paper.published import irrelevant_examples
from gongzhu_jax.game.cards import NUM_CARDS, NUM_RANKS, NUM_SEATS, SUIT, card_id, card_ids

GUESSER = 1
"""The seat whose cards are guessed; seat 0 leads."""


@dataclass(frozen=True)
class GuessedHands:
    """Deals that differ in who holds the irrelevant card, and the card that seat 0 leads."""

    without: np.ndarray  # [fills, 52] int8, owner of each card
    present: np.ndarray  # [fills, 52] int8, with the irrelevant card in the guessed hand
    leads: np.ndarray  # [fills] int8


def draw_hands(seed: int, irrelevant: str, group: Mapping[str, object], fills: int) -> GuessedHands:
    """`fills` deals around a group, which names the irrelevant card too."""
    moved = card_id(irrelevant)
    guessed = [card for card in card_ids(group) if card != moved]
    named = {card for cards in irrelevant_examples()[irrelevant] for card in card_ids(cards)}
    suit = SUIT[moved]
    leads = [card for card in range(NUM_CARDS) if SUIT[card] == suit and card not in named]
    rng = np.random.default_rng(seed)
    without = np.zeros((fills, NUM_CARDS), np.int8)
    present = np.zeros_like(without)
    chosen = np.zeros(fills, np.int8)
    for fill in range(fills):
        chosen[fill] = rng.choice(leads)
        # Card by card in one random order, so that all groups have the same hands beside them.
        order = rng.permutation(NUM_CARDS)
        others = [card for card in order if SUIT[card] != suit]
        fillers = others[: NUM_RANKS - len(guessed)]
        without[fill] = _owners([*guessed, *fillers], chosen[fill], order)
        exchanged = fillers[-1]
        present[fill] = without[fill]
        present[fill, exchanged] = without[fill, moved]
        present[fill, moved] = GUESSER
    return GuessedHands(without, present, chosen)


def _owners(hand: list[int], lead: int, order: np.ndarray) -> np.ndarray:
    """A deal with this hand for the guesser, the lead for seat 0 and the rest in `order`."""
    owners = np.full(NUM_CARDS, -1, np.int8)
    owners[hand] = GUESSER
    owners[lead] = 0
    rest = [card for card in order if owners[card] < 0]
    seats = np.repeat(np.arange(NUM_SEATS, dtype=np.int8), NUM_RANKS)
    seats = seats[seats != GUESSER][1:]  # seat 0 has its lead already
    owners[rest] = seats
    return owners
