"""The belief's input: all that a seat may know, counted from that seat, and nothing more."""

import jax
import numpy as np

from gongzhu_jax.game import env
from gongzhu_jax.game.view import view
from gongzhu_jax.inference.belief import NUM_BELIEF_FEATURES, encode_view
from tests import positions

STAGES = [0, 1, 3, 4, 17, 30, 42, 50, 51] * 2
_encode = jax.jit(jax.vmap(encode_view))


def expected(state: env.GameState, seat: int) -> np.ndarray:
    """By loops over the history."""
    stage = int(state.stage)
    plays, leaders = np.asarray(state.plays), np.asarray(state.leaders)
    hand = np.asarray(state.holder) == seat
    played = np.zeros(52, bool)
    history, led = np.zeros((13, 4, 52)), np.zeros((13, 4))
    voids = np.zeros((4, 4), bool)
    sizes = np.full(4, 13)
    for number in range(stage):
        trick, place = divmod(number, 4)
        who = (leaders[trick] + place) % 4
        history[trick, (who - seat) % 4, plays[number]] = 1
        played[plays[number]] = True
        sizes[who] -= 1
        if plays[number] // 13 != plays[trick * 4] // 13:
            voids[who, plays[trick * 4] // 13] = True
    for trick in range(13):
        if leaders[trick] >= 0:
            led[trick, (leaders[trick] - seat) % 4] = 1
    taken = np.zeros((4, 52))
    for card, who in enumerate(np.asarray(state.taken_by)):
        if who >= 0:
            taken[(who - seat) % 4, card] = 1
    others = [(seat + i) % 4 for i in (1, 2, 3)]
    place = np.eye(4)[stage % 4]
    parts = (
        *(hand, ~(hand | played), history, led, history.max(0), taken),
        *(~voids[others], sizes[others] / 13, place),
    )
    return np.concatenate([np.asarray(part, np.float32).reshape(-1) for part in parts])


def test_features_as_by_loops() -> None:
    states = positions.random_states(5, STAGES)
    for seat in range(4):
        found = _encode(jax.vmap(view, (0, None))(states, seat))
        assert found.shape == (len(STAGES), NUM_BELIEF_FEATURES)
        for row in range(len(STAGES)):
            wanted = expected(positions.take(states, row), seat)
            np.testing.assert_allclose(found[row], wanted, rtol=1e-6)
