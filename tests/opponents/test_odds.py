"""Deals by odds against enumeration: sums, marginals, draws and their stated probabilities."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from gongzhu_jax.inference import sampling
from gongzhu_jax.inference.constraints import constraints
from gongzhu_jax.opponents import odds
from tests import positions
from tests.optimised import OPTIMISED
from tests.oracle.data import load
from tests.oracle.scenarios import enumerate_deals

RECORDS = load("scenarios")
SMALL = [i for i, record in enumerate(RECORDS) if 2 <= record["count"] <= 400]
BLOCK = 1000

_weigh = jax.jit(jax.vmap(lambda numbers, view: odds.weigh(numbers, constraints(view))))
_marginals = jax.jit(jax.vmap(lambda numbers, view: odds.marginals(numbers, constraints(view))))
_draw = jax.jit(
    jax.vmap(lambda key, table: odds.draw(key, table, BLOCK)), compiler_options=OPTIMISED
)


@pytest.fixture(scope="module")
def views():
    return positions.golden_views(RECORDS)


@pytest.fixture(scope="module")
def numbers() -> np.ndarray:
    """Log odds as far apart as a sharp belief has them."""
    return np.random.default_rng(0).normal(0, 1.5, (len(RECORDS), 52, 3)).astype(np.float32)


def enumerated(record: dict, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All deals [n, cards] and their unnormalised log weights [n]."""
    deals = np.array(list(enumerate_deals(record["unknown"], record["sizes"], record["void"])))
    logs = numbers[record["unknown"]].astype(np.float64)
    return deals, logs[np.arange(deals.shape[1]), deals].sum(axis=1)


def test_sums_and_marginals(views, numbers) -> None:
    table, shares = _weigh(numbers, views), _marginals(numbers, views)
    for i in SMALL:
        deals, logs = enumerated(RECORDS[i], numbers[i])
        top = logs.max()
        total = top + np.log(np.exp(logs - top).sum())
        assert table.log_total[i] == pytest.approx(total, abs=1e-4)
        share = np.exp(logs - total)
        expected = np.zeros((52, 3))
        for place, card in enumerate(RECORDS[i]["unknown"]):
            expected[card] = np.bincount(deals[:, place], share, minlength=3)
        np.testing.assert_allclose(shares[i], expected, atol=1e-4)


def test_flat_odds_count_deals(views) -> None:
    table = _weigh(np.zeros((len(RECORDS), 52, 3), np.float32), views)
    logs = np.log([record["count"] for record in RECORDS])
    np.testing.assert_allclose(table.log_total, logs, rtol=1e-5, atol=1e-4)


def _frequencies(views, numbers, blocks: int) -> list[float]:
    """P-values of chi-square tests of draws against their stated probabilities."""
    chosen = positions.take(views, np.array(SMALL))
    table = _weigh(numbers[SMALL], chosen)
    counts: list[dict[bytes, int]] = [{} for _ in SMALL]
    stated: list[dict[bytes, float]] = [{} for _ in SMALL]
    for block in range(blocks):
        keys = jax.random.split(jax.random.key(block), len(SMALL))
        draws, logs = jax.device_get(_draw(keys, table))
        for j, i in enumerate(SMALL):
            for deal, log in zip(draws[j][:, RECORDS[i]["unknown"]], logs[j], strict=True):
                name = deal.tobytes()
                counts[j][name] = counts[j].get(name, 0) + 1
                stated[j][name] = float(log)
    tests = []
    for j, i in enumerate(SMALL):
        deals, logs = enumerated(RECORDS[i], numbers[i])
        share = np.exp(logs - logs.max())
        share /= share.sum()
        names = [deal.astype(np.int8).tobytes() for deal in deals]
        assert set(counts[j]) <= set(names)  # hand sizes and voids hold
        for name, expected in zip(names, share, strict=True):
            if name in stated[j]:
                assert stated[j][name] == pytest.approx(np.log(expected), abs=1e-3)
        frequency = np.array([counts[j].get(name, 0) for name in names])
        common = share * BLOCK * blocks >= 5
        if common.sum() > 1:
            seen = np.append(frequency[common], frequency[~common].sum())
            wanted = np.append(share[common], share[~common].sum()) * BLOCK * blocks
            keep = wanted > 0
            tests.append(stats.chisquare(seen[keep], wanted[keep] * seen.sum() / wanted.sum()))
    return [test.pvalue for test in tests]


def test_draws_follow_their_stated_probabilities(views, numbers) -> None:
    p_values = _frequencies(views, numbers, blocks=2)
    assert len(p_values) > 20
    assert min(p_values) > 0.01 / len(p_values)


@pytest.mark.slow
def test_many_draws_follow_their_stated_probabilities(views, numbers) -> None:
    p_values = _frequencies(views, numbers, blocks=100)
    assert min(p_values) > 0.01 / len(p_values)
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


def test_flat_draws_are_uniform(views) -> None:
    p_values = _frequencies(views, np.zeros((len(RECORDS), 52, 3), np.float32), blocks=2)
    assert min(p_values) > 0.01 / len(p_values)


def test_large_deals(views, numbers) -> None:
    """Where nothing can be enumerated: constraints hold, and the stated probability of a draw is
    that of its product of odds."""
    table = _weigh(numbers, views)
    draws, logs = _draw(jax.random.split(jax.random.key(1), len(RECORDS)), table)
    sums = jax.jit(jax.vmap(odds.log_weight))(numbers, draws)
    np.testing.assert_allclose(logs, sums - table.log_total[:, None], atol=2e-3)
    for i, record in enumerate(RECORDS):
        dealt = np.asarray(draws[i])[:, record["unknown"]]
        for opponent in range(3):
            np.testing.assert_array_equal((dealt == opponent).sum(1), record["sizes"][opponent])
        suits = np.array(record["unknown"]) // 13
        for opponent, suit in np.argwhere(np.array(record["void"])):
            assert not np.any(dealt[:, suits == suit] == opponent)


def test_no_deal(views) -> None:
    known = constraints(positions.take(views, 0))
    known = known.replace(capacities=known.capacities.at[0].add(1))
    table = odds.weigh(jnp.zeros((52, 3)), known)
    assert table.log_total == -np.inf
    draws, logs = odds.draw(jax.random.key(0), table, 3)
    assert np.all(np.asarray(draws) == -1)
    assert np.all(np.asarray(logs) == -np.inf)
    assert sampling.count_deals(known).total == 0
