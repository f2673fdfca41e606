"""Mr. If and Mr. Random against the golden decisions of the original and their closed forms."""

import jax
import numpy as np
import pytest
from scipy import stats

from gongzhu_jax import players
from gongzhu_jax.game.cards import NUM_CARDS
from gongzhu_jax.game.public_view import legal_mask
from gongzhu_jax.players import random, rule_based
from tests import positions
from tests.oracle.data import load

RECORDS = load("mrif")
DRAWS = 2000


@pytest.fixture(scope="module")
def views():
    return positions.golden_views(RECORDS)


@pytest.fixture(scope="module")
def probabilities(views):
    return np.asarray(jax.jit(jax.vmap(rule_based.probabilities))(views))


def test_all_golden_decisions(probabilities):
    assert len(RECORDS) == 4148
    for record, ours in zip(RECORDS, probabilities, strict=True):
        exact = np.zeros(NUM_CARDS)
        exact[record["support"]] = record["prob"]
        np.testing.assert_allclose(ours, exact, atol=1e-6, err_msg=str(record))
        np.testing.assert_array_equal(ours > 0, exact > 0, err_msg=str(record))


def test_golden_choices_without_chance(views):
    keys = jax.random.split(jax.random.key(0), len(RECORDS))
    cards = np.asarray(jax.jit(players.make("if").act_batch)((), keys, views))
    assert cards.dtype == np.int8
    sure = [i for i, record in enumerate(RECORDS) if not record["random"]]
    assert cards[sure].tolist() == [RECORDS[i]["choice"] for i in sure]


def _check_frequencies(act, views, probabilities) -> None:
    """Chi-square of many draws in each view, and uniform p-values over the views."""
    keys = jax.random.split(jax.random.key(1), (len(probabilities), DRAWS))
    draws = np.asarray(jax.jit(jax.vmap(jax.vmap(act, (0, None))))(keys, views))
    p_values = []
    for cards, probability in zip(draws, probabilities, strict=True):
        counts = np.bincount(cards, minlength=NUM_CARDS)
        assert counts[probability == 0].sum() == 0
        observed, expected = _pool_rare(counts, DRAWS * probability.astype(float))
        if len(observed) > 1:
            p_values.append(stats.chisquare(observed, expected / expected.sum() * DRAWS).pvalue)
    assert len(p_values) > 20
    assert min(p_values) > 0.01 / len(p_values)
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


def _pool_rare(counts: np.ndarray, expected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cards put together, the rarest first, until 5 are expected of each class."""
    order = np.argsort(expected)
    enough = np.cumsum(expected[order]) >= 5
    first = np.flatnonzero(enough)[0] if enough.any() else len(order) - 1
    groups = np.split(order, range(first + 1, len(order)))
    observed = np.array([counts[group].sum() for group in groups])
    return observed, np.array([expected[group].sum() for group in groups])


def test_chance_has_the_stated_frequencies(views, probabilities):
    chance = np.array([i for i, record in enumerate(RECORDS) if record["random"]][::2])

    def act(key, view):
        return random.draw_card(key, rule_based.probabilities(view))

    _check_frequencies(act, positions.take(views, chance), probabilities[chance])


def test_random_is_uniform_over_the_legal_cards():
    stages = [stage for stage in range(0, 44, 3) for _ in range(3)]
    views = positions.random_views(3, stages)
    legal = np.asarray(jax.jit(jax.vmap(legal_mask))(views))
    probabilities = np.asarray(jax.jit(jax.vmap(random.probabilities))(views))
    np.testing.assert_allclose(probabilities, legal / legal.sum(axis=1, keepdims=True), rtol=1e-6)
    choice = legal.sum(axis=1) > 1

    def act(key, view):
        return random.draw_card(key, random.probabilities(view))

    _check_frequencies(act, positions.take(views, choice), probabilities[choice])


def test_probabilities_of_the_players(views):
    view = positions.take(views, 0)
    for name, module in (("random", random), ("if", rule_based)):
        ours = jax.jit(players.make(name).probabilities)(view)
        np.testing.assert_array_equal(ours, jax.jit(module.probabilities)(view))
        assert ours.dtype == np.float32
