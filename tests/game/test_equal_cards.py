"""Equal cards against their definition in plain Python, and against exact values of endgames."""

import jax
import numpy as np

from gongzhu_jax.game.equal_cards import lowest_equal
from tests import positions
from tests.game.random_games import random_states
from tests.oracle.data import load
from tests.oracle.rules import C10, POINTS, SUIT, Game

lowest = jax.jit(jax.vmap(lowest_equal))


def by_hand(game: Game) -> dict[int, int]:
    """For each legal card, the lowest legal card from which one gets to it over cards that are in
    the same hand or lie with an earlier trick."""
    hand, taken = game.hand(game.player_to_move()), [card for of in game.taken for card in of]
    worth = {card: "doubles" if card == C10 else POINTS[card] for card in range(52)}

    def are_equal(low: int, high: int) -> bool:
        between = set(range(low + 1, high)) - set(hand) - set(taken)
        return SUIT[low] == SUIT[high] and worth[low] == worth[high] and not between

    legal = game.legal()
    return {card: next(c for c in legal if c <= card and are_equal(c, card)) for card in legal}


def test_equal_cards_by_hand() -> None:
    states, games = random_states(5, 512)
    found = np.asarray(lowest(positions.mover_views(states)))
    merged = 0
    for row, game in zip(found, games, strict=True):
        expected = by_hand(game)
        assert {card: int(row[card]) for card in expected} == expected
        merged += sum(card != low for card, low in expected.items())
    assert merged > 200


def test_equal_cards_have_equal_exact_values() -> None:
    records = load("endgame")
    views = positions.golden_views([{**r, "hand": r["hands"][r["seat"]]} for r in records])
    merged = 0
    for record, row in zip(records, np.asarray(lowest(views)), strict=True):
        value = dict(zip(record["legal"], record["value"], strict=True))
        for card in record["legal"]:
            assert value[card] == value[int(row[card])]
            merged += card != row[card]
    assert merged > 20
