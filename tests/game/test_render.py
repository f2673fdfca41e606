"""Games as text: kept in tests/data, so that a change shows as a difference of text."""

import numpy as np
import pytest

from gongzhu_jax.game import render, replay_checked, view
from gongzhu_jax.game.text import render_hand
from tests.oracle.data import DATA, load
from tests.oracle.rules import Game


def golden_state(number_of_plays: int):
    game = load("games")[5]
    return replay_checked(game["deal"], game["leader"], game["plays"][:number_of_plays])


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("render_state", lambda: golden_state(30)),
        ("render_view", lambda: view(golden_state(30), 1)),
    ],
)
def test_text(name: str, shown) -> None:
    assert render(shown()) + "\n" == (DATA / f"{name}.txt").read_text()


def test_a_view_shows_no_other_hand() -> None:
    """The cards that a rendered view names are the hand of its seat and the plays."""
    game = load("games")[5]
    oracle = Game(game["deal"], game["leader"], game["plays"][:30])
    for seat in range(4):
        hands = render(view(golden_state(30), seat)).splitlines()[:4]
        for other, line in enumerate(hands):
            if other == seat:
                assert line.endswith(render_hand(np.array(oracle.hand(seat))))
            else:
                assert line.endswith(f"  {len(oracle.hand(other))} cards")


def test_ends_of_a_game() -> None:
    start, end = golden_state(0), golden_state(52)
    assert len(render(start).splitlines()) == 4
    assert render(start).splitlines()[2].startswith(">seat 2     0")
    lines = render(end).splitlines()
    assert len(lines) == 4 + 13
    assert not any(line.startswith(">") for line in lines)
    scores = [int(line.split()[2]) for line in lines[:4]]
    assert scores == load("games")[5]["scores"]
    winners = [int(line.split()[-1]) for line in lines[4:]]
    assert winners == load("games")[5]["trick_winners"]


def test_hand() -> None:
    assert render_hand(np.array([10, 0, 11, 34, 38])) == "S KQ2  H -  D A10  C -"
    assert render_hand(np.array([], int)) == "S -  H -  D -  C -"
