"""Statistics against hand-worked numbers and the properties the paper asks of epsilon."""

import numpy as np
import pytest

from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation import stats


def antisymmetric(above: dict[tuple[int, int], float], players: int) -> np.ndarray:
    xi = np.zeros((players, players))
    for (i, j), value in above.items():
        xi[i, j], xi[j, i] = value, -value
    return xi


# Mr. Random, Mr. If, Mr. Greed, ScrofaZeroSimple as in the paper's table, first over second.
PAPER = antisymmetric(
    {(0, 1): -194, (0, 2): -275, (0, 3): -319, (1, 2): -80, (1, 3): -127, (2, 3): -60}, 4
)


def test_estimate():
    summary = stats.estimate(np.array([1.0, 2.0, 3.0, 6.0]))
    assert summary.mean == 3.0
    # Sample variance (4 + 1 + 0 + 9) / 3, over 4 observations.
    assert summary.standard_error == pytest.approx((14 / 3 / 4) ** 0.5)
    low, high = summary.interval
    assert high - low == pytest.approx(2 * 1.96 * summary.standard_error, rel=1e-4)
    assert summary.count == 4


def test_one_observation_has_no_standard_error():
    summary = stats.estimate(np.array([5.0]))
    assert summary.mean == 5.0
    assert np.isnan(summary.standard_error)
    assert summary.summary()["standard_error"] is None
    with pytest.raises(ConfigError):
        stats.estimate(np.array([]))


def test_rates():
    margins = np.array([10.0, 0.0, -5.0, 0.5])
    assert stats.win_rate(margins) == 0.5
    assert stats.draw_rate(margins) == 0.25


def test_paired_difference_is_free_of_the_luck_of_the_deal():
    rng = np.random.default_rng(0)
    luck = rng.normal(0, 150, 500)
    first, second = luck + 7 + rng.normal(0, 5, 500), luck + rng.normal(0, 5, 500)
    paired = stats.paired_difference(first, second)
    assert paired.mean == pytest.approx(7, abs=4 * paired.standard_error)
    assert paired.standard_error < 0.1 * stats.estimate(first).standard_error
    with pytest.raises(ConfigError):
        stats.paired_difference(first, second[:-1])


def test_epsilon_of_three_players():
    xi = antisymmetric({(0, 1): 10, (1, 2): 20, (0, 2): 25}, 3)
    assert stats.intransitivity(xi) == pytest.approx(5 / 55)


def test_epsilon_of_the_paper():
    # Triples RIG, RIS, RGS, IGS: defects 1, 2, 16, 13; sums 549, 640, 654, 267.
    assert stats.intransitivity(PAPER) == pytest.approx(
        (1 + 4 + 256 + 169) / (1 * 549 + 2 * 640 + 16 * 654 + 13 * 267)
    )
    assert round(float(stats.intransitivity(PAPER)), 2) == 0.03


def test_epsilon_with_the_random_rollout_tree_player():
    # Published with decimals: R, I, G, tree player, SZS; epsilon 0.086.
    xi = -antisymmetric(
        {(0, 1): 194.0, (0, 2): 275.2, (1, 2): 80.3, (0, 4): 319, (1, 4): 127, (2, 4): 60}
        | {(0, 3): 244, (1, 3): 41, (2, 3): 3, (3, 4): 99},
        5,
    )
    assert float(stats.intransitivity(xi)) == pytest.approx(0.086, abs=0.0005)


def test_epsilon_is_zero_for_transitive_and_one_for_cyclic_results():
    strength = np.array([3.0, -40.0, 12.5, 99.0, 0.0])
    assert stats.intransitivity(strength[:, None] - strength[None, :]) == pytest.approx(
        0, abs=1e-12
    )
    assert stats.intransitivity(np.zeros((4, 4))) == 0
    rock_paper_scissors = antisymmetric({(0, 1): 1, (1, 2): 1, (2, 0): 1}, 3)
    assert stats.intransitivity(rock_paper_scissors) == 1


def test_epsilon_ignores_scale_and_order():
    rng = np.random.default_rng(1)
    upper = np.triu(rng.normal(0, 100, (6, 6)), 1)
    xi = upper - upper.T
    order = rng.permutation(6)
    expected = float(stats.intransitivity(xi))
    assert 0 < expected < 1
    assert stats.intransitivity(7.5 * xi) == pytest.approx(expected)
    assert stats.intransitivity(-xi) == pytest.approx(expected)
    assert stats.intransitivity(xi[np.ix_(order, order)]) == pytest.approx(expected)
    assert stats.intransitivity(np.stack([xi, 2 * xi])) == pytest.approx([expected] * 2)


def test_epsilon_needs_three_players():
    with pytest.raises(ConfigError, match="three"):
        stats.intransitivity(np.zeros((2, 2)))


def test_bootstrap_sd_agrees_with_repeated_measurement():
    rng = np.random.default_rng(2)
    deals, sigma = 200, 150.0

    def measure() -> np.ndarray:
        noise = np.triu(rng.normal(0, sigma, (deals, 4, 4)), 1)
        noise = noise - noise.transpose(0, 2, 1)
        return (PAPER + noise).transpose(1, 2, 0)

    repeated = np.std([float(stats.intransitivity(measure().mean(-1))) for _ in range(400)])
    bootstrap = np.mean([stats.intransitivity_sd(measure(), resamples=200) for _ in range(20)])
    assert 0.6 * repeated < bootstrap < 1.8 * repeated
    # Without noise there is nothing to vary.
    assert stats.intransitivity_sd(np.repeat(PAPER[..., None], 10, -1)) == pytest.approx(
        0, abs=1e-9
    )


def test_floor_of_intransitivity() -> None:
    """By the errors of its deals alone a transitive set of players has the epsilon that repeated
    measurements of it have, whatever intransitivity the means show."""
    rng = np.random.default_rng(3)
    strength = np.array([0.0, 60.0, 90.0])
    transitive = strength[:, None] - strength[None, :]

    def measure(means: np.ndarray) -> np.ndarray:
        noise = np.triu(rng.normal(0, 150, (64, 3, 3)), 1)
        return (means + noise - noise.transpose(0, 2, 1)).transpose(1, 2, 0)

    repeated = np.mean(
        [float(stats.intransitivity(measure(transitive).mean(-1))) for _ in range(2000)]
    )
    twist = 40 * np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])  # which no strengths explain
    for means in (transitive, transitive + twist):
        floors = [stats.intransitivity_floor(measure(means), resamples=200) for _ in range(20)]
        assert 0.8 * repeated < np.mean(floors) < 1.25 * repeated
    with_twist = float(stats.intransitivity(transitive + twist))
    assert with_twist > 1.5 * repeated  # so that the floor can be told from what is measured
    assert stats.intransitivity_floor(np.repeat(transitive[..., None], 10, -1)) == pytest.approx(0)
