"""Targets against numbers worked out by hand."""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from gongzhu_jax.training.targets import policy_target, value_targets


def q_of(cards: dict[int, float]) -> jnp.ndarray:
    q = np.full(52, -np.inf, np.float32)
    q[list(cards)] = list(cards.values())
    return jnp.asarray(q)


def mask(*cards: int) -> jnp.ndarray:
    return jnp.asarray(np.isin(np.arange(52), cards))


# Policy


def test_policy_is_softmax_of_a_fifth_of_q() -> None:
    """Q of 10, 5 and 0 points: exponents 2, 1 and 0."""
    target = policy_target(q_of({3: 10, 20: 5, 51: 0}), mask(3, 20, 51))
    total = math.e**2 + math.e + 1
    expected = np.zeros(52)
    expected[[3, 20, 51]] = [math.e**2 / total, math.e / total, 1 / total]
    np.testing.assert_allclose(target, expected, rtol=1e-6)


def test_policy_depends_on_differences_alone() -> None:
    """Hundreds of points, as Q is: the final margin and not what is still to come."""
    low = policy_target(q_of({0: -400, 1: -410}), mask(0, 1))
    high = policy_target(q_of({0: 410, 1: 400}), mask(0, 1))
    np.testing.assert_allclose(low, high, rtol=1e-6)
    np.testing.assert_allclose(low[0], 1 / (1 + math.exp(-2)), rtol=1e-6)


def test_unvisited_cards_get_nothing() -> None:
    """A budget below the number of legal cards: card 2 is legal and was not looked at."""
    target = policy_target(q_of({0: 5, 1: 5}), mask(0, 1, 2))
    np.testing.assert_allclose(target[:3], [0.5, 0.5, 0.0], rtol=1e-6)


def test_policy_of_a_forced_card() -> None:
    np.testing.assert_array_equal(policy_target(q_of({}), mask(17)), np.arange(52) == 17)


# Value

# Four stages, as at the end of a game. Seat 1 plays last to a trick and seat 3 wins it, so two
# stages of one team follow each other; the third card is forced.
#
#   stage  seat  team  best Q  margin so far
#     0      0    A       40       10   of the mover's team, as is Q
#     1      1    B      -30      -10
#     2      3    B     none      -20   forced, so not searched
#     3      0    A       50       20
#
# The game ends with A ahead by 100.
BEST = [40.0, -30.0, -math.inf, 50.0]
SEARCHED = [True, True, False, True]
MARGIN = [10.0, -10.0, -20.0, 20.0]
MOVER = [0, 1, 3, 0]
OUTCOME = 100


def targets(td_lambda: float, loss: Any = (0, 0, 0, 0), blunder: float = 8.0) -> np.ndarray:
    by_position = value_targets(
        jnp.asarray(BEST, jnp.float32),
        jnp.asarray(SEARCHED),
        jnp.asarray(loss, jnp.float32),
        jnp.asarray(MARGIN, jnp.float32),
        jnp.asarray(MOVER, jnp.int8),
        jnp.int32(OUTCOME),
        td_lambda,
        blunder,
    )
    return np.asarray(by_position)


def test_value_by_the_search_alone() -> None:
    np.testing.assert_allclose(
        targets(0.0),
        [
            40 - 10,
            -30 - -10,
            -50 - -20,  # no search here: what stage 3 says, 50 for A
            50 - 20,
        ],
        rtol=1e-6,
    )


def test_value_by_the_outcome_alone() -> None:
    np.testing.assert_allclose(
        targets(1.0),
        [
            100 - 10,
            -100 - -10,
            -100 - -20,
            100 - 20,
        ],
        rtol=1e-6,
    )


def test_mixed_value() -> None:
    """A quarter of what came later, in the eyes of team A, from the last stage backwards."""
    stage_3 = 0.75 * 50 + 0.25 * 100  # 62.5
    stage_2 = stage_3  # forced: passed on whole
    stage_1 = 0.75 * 30 + 0.25 * stage_2  # 38.125; B's -30 are 30 for A
    stage_0 = 0.75 * 40 + 0.25 * stage_1  # 39.53125
    assert stage_0 == 39.53125
    np.testing.assert_allclose(
        targets(0.25),
        [
            39.53125 - 10,
            -38.125 - -10,
            -62.5 - -20,
            62.5 - 20,
        ],
        rtol=1e-6,
    )


def test_a_blunder_cuts_the_trace() -> None:
    """Seat 1 gives away 8.5 points at stage 1: what follows does not count there. Before it, the
    value of stage 1 counts, by its search."""
    np.testing.assert_allclose(
        targets(1.0, loss=[0, 8.5, 0, 0]),
        [
            30 - 10,
            -30 - -10,
            -100 - -20,
            100 - 20,
        ],
        rtol=1e-6,
    )


def test_a_small_loss_does_not() -> None:
    np.testing.assert_array_equal(targets(1.0, loss=[0, 8.0, 0, 0]), targets(1.0))
    np.testing.assert_array_equal(targets(0.5, [9, 9, 9, 9], blunder=10.0), targets(0.5))


def test_the_other_team_sees_the_negative() -> None:
    """All seats moved on by one: the same game with the teams exchanged."""
    exchanged = value_targets(
        jnp.asarray(BEST, jnp.float32),
        jnp.asarray(SEARCHED),
        jnp.zeros(4),
        jnp.asarray(MARGIN, jnp.float32),
        (jnp.asarray(MOVER, jnp.int8) + 1) % 4,
        jnp.int32(-OUTCOME),
        0.25,
        8.0,
    )
    np.testing.assert_allclose(exchanged, targets(0.25), rtol=1e-6)
