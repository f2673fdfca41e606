"""Cards and their names against the oracle's."""

from typing import Any

import numpy as np
import pytest

from gongzhu_jax.errors import CardError, GongzhuError
from gongzhu_jax.game import cards
from tests.oracle import rules


def test_names_and_ids() -> None:
    assert tuple(rules.card_name(card) for card in range(52)) == cards.CARD_NAMES
    for card, name in enumerate(cards.CARD_NAMES):
        assert cards.card_id(name) == cards.card_id(f" {name.lower()} ") == card
        scalar: Any = np.int8(card)
        assert cards.card_id(card) == cards.card_id(scalar) == card
        assert type(cards.card_id(scalar)) is int
        assert "SHDC"[cards.SUIT[card]] == name[0]
        assert rules.RANKS[cards.RANK[card]] == name[1:]


def test_special_cards() -> None:
    assert (cards.PIG, cards.SHEEP, cards.TRANSFORMER) == (rules.SQ, rules.DJ, rules.C10)
    assert cards.POINT_CARDS.tolist() == rules.POINT_CARDS


def test_lists() -> None:
    assert cards.card_ids("SQ, H2 c10") == [10, 13, 47]
    assert cards.card_ids(["SQ", 13, "C10"]) == [10, 13, 47]
    assert cards.card_ids("") == cards.card_ids([]) == []
    assert cards.card_names(np.array([10, 13, 47], np.int8)) == "SQ H2 C10"
    assert cards.card_names([]) == ""


@pytest.mark.parametrize(
    ("card", "message"),
    [
        ("1S", "unknown card name '1S'"),
        ("S1", "unknown card name 'S1'"),
        ("", "unknown card name ''"),
        ("SQ H2", "unknown card name 'SQ H2'"),
        (52, "unknown card id 52"),
        (-1, "unknown card id -1"),
        (True, "not True"),
        (1.0, "not 1.0"),
        (None, "not None"),
    ],
)
def test_unknown_cards(card, message: str) -> None:
    with pytest.raises(CardError, match=message) as caught:
        cards.card_id(card)
    assert isinstance(caught.value, GongzhuError)
    with pytest.raises(CardError):
        cards.card_ids([0, card])


def test_teams() -> None:
    seats = np.arange(4)
    partners = cards.same_team(seats[:, None], seats[None, :])
    expected = [[(a in (0, 2)) == (b in (0, 2)) for b in range(4)] for a in range(4)]
    np.testing.assert_array_equal(partners, expected)
