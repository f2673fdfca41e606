"""Decisions under hidden information: their parts, their costs, and what they must not depend on.

The network is a small one with random weights.
"""

import functools
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax import network
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_CARDS
from gongzhu_jax.game.equal_cards import lowest_equal
from gongzhu_jax.game.public_view import PublicView, legal_mask, played_mask
from gongzhu_jax.inference import decision as decisions
from gongzhu_jax.inference.config import (
    InferenceConfig,
    PriorConfig,
    ScenarioConfig,
    WeightConfig,
    make_params,
)
from gongzhu_jax.inference.constraints import opponents
from gongzhu_jax.inference.correction import counted_slices
from gongzhu_jax.inference.decision import Decision, decide, decide_in
from gongzhu_jax.inference.explanation import believed_holders, q_standard_error
from gongzhu_jax.inference.scenarios import Scenarios
from gongzhu_jax.search import SearchConfig, network_policy_value, search
from gongzhu_jax.search.config import RacingConfig
from tests import positions

NET = network.make("compact", stem=32, width=16, blocks=1)
CONFIG = InferenceConfig()
STAGES = list(range(NUM_CARDS)) * 6


@pytest.fixture(scope="module")
def states() -> env.GameState:
    return positions.random_states(0, STAGES)


@pytest.fixture(scope="module")
def views(states) -> PublicView:
    """The view of the mover in 24 games up to the last trick but one."""
    return positions.take(positions.mover_views(states), np.arange(0, 48, 2))


@pytest.fixture(scope="module")
def params() -> Any:
    return jax.jit(NET.init)(jax.random.key(0))


@functools.cache
def _decide(config: InferenceConfig) -> Any:
    return jax.jit(lambda params, keys, views: decide(params, keys, views, NET, config))


def _decided(params: Any, keys: jax.Array, views: PublicView, config: InferenceConfig) -> Decision:
    return jax.device_get(_decide(config)(make_params(params, config), keys, views))


def _legal(views: PublicView) -> np.ndarray:
    return np.asarray(jax.jit(jax.vmap(legal_mask))(views))


# the parts


def test_weighted_mean_by_hand() -> None:
    q = jnp.array([[[10.0, -20.0, -jnp.inf], [30.0, 0.0, -jnp.inf], [-jnp.inf] * 3]])
    legal = jnp.array([[True, True, False]])
    mean = decisions.weighted_mean(q, jnp.array([[0.25, 0.75, 0.0]]), legal)
    np.testing.assert_allclose(mean, [[25.0, -5.0, -np.inf]])
    # A card that was searched in a part of the scenarios, and one in none.
    q = jnp.array([[[-10.0, -20.0, -jnp.inf], [-30.0, -jnp.inf, -jnp.inf]]])
    mean = decisions.weighted_mean(q, jnp.array([[0.25, 0.75]]), jnp.ones((1, 3), bool))
    np.testing.assert_allclose(mean, [[-25.0, -20.0, -np.inf]])


def test_normalised_weights_by_hand() -> None:
    logs = jnp.array([[0.0, np.log(3.0), -jnp.inf], [-900.0, -900.0, -900.0], [-jnp.inf] * 3])
    weight = decisions.normalise(logs)
    np.testing.assert_allclose(weight, [[0.25, 0.75, 0], [1 / 3] * 3, [0] * 3], rtol=1e-6)


def test_effective_sample_size_by_hand() -> None:
    weight = jnp.array([[0.5, 0.5, 0, 0], [0.25] * 4, [1, 0, 0, 0], [0.5, 0.25, 0.25, 0]])
    size = decisions.effective_sample_size(weight)
    np.testing.assert_allclose(size, [2, 4, 1, 8 / 3], rtol=1e-6)


def test_standard_error_by_hand() -> None:
    q: Any = np.full((1, 3, NUM_CARDS), -np.inf, np.float32)
    q[0, 0, :2] = 10.0, 4.0
    q[0, 1, :2] = 30.0, 4.0
    weight: Any = np.array([[0.25, 0.75, 0.0]], np.float32)
    mean: Any = np.full((1, NUM_CARDS), -np.inf, np.float32)
    mean[0, :2] = 25.0, 4.0
    nothing: Any = None
    error = q_standard_error(Decision(nothing, mean, q, weight, nothing, nothing, nothing))
    expected = np.zeros((1, NUM_CARDS))
    expected[0, 0] = np.sqrt((0.25 * 15) ** 2 + (0.75 * 5) ** 2)
    np.testing.assert_allclose(error, expected, rtol=1e-6)
    # What a prior adds is the same in all scenarios.
    error = q_standard_error(Decision(nothing, mean + 7, q, weight, nothing, nothing, nothing))
    np.testing.assert_allclose(error, expected, rtol=1e-6)


def test_believed_holders_by_hand() -> None:
    holder: Any = np.full((2, NUM_CARDS), -1, np.int8)
    holder[:, 0] = 1, 2
    holder[:, 5] = 3, 3
    shares = np.asarray(believed_holders(holder, jnp.array([0.25, 0.75])))
    expected = np.zeros((NUM_CARDS, 4))
    expected[0] = 0, 0.25, 0.75, 0
    expected[5] = 0, 0, 0, 1
    np.testing.assert_allclose(shares, expected, rtol=1e-6)


# whole decisions


def test_the_true_deal_gives_the_search_with_open_hands(params, states, views) -> None:
    config = InferenceConfig(weights=WeightConfig(rule="none"))
    states = positions.take(states, np.arange(0, 48, 2))
    count = len(states.stage)
    keys = jax.random.split(jax.random.key(0), count)
    holder = states.holder[:, None]
    opponent = jax.vmap(opponents)(views, holder)
    truth = Scenarios(opponent, holder, jnp.ones((count, 1), bool), jnp.zeros((count, 1)))
    decision = jax.jit(
        lambda p, views, truth: decide_in(make_params(p, config), keys, views, truth, NET, config)
    )(params, views, truth)
    open_hands = jax.jit(
        lambda p, states: search(p, keys[0], states, network_policy_value(NET), config.search)
    )(params, states)
    # Forced plays are searched by neither.
    np.testing.assert_allclose(decision.q, open_hands.q, rtol=1e-5, atol=1e-3)
    np.testing.assert_allclose(decision.scenario_q[:, 0], open_hands.q, rtol=1e-5, atol=1e-3)
    np.testing.assert_array_equal(decision.weight, 1)
    q, legal = np.asarray(decision.q), _legal(views)
    assert np.sum(np.isfinite(q)) > 30
    for row in range(count):
        best = legal[row] & (q[row] == np.max(q[row]))
        assert best[decision.card[row]]


@pytest.fixture(scope="module")
def keys(views) -> jax.Array:
    return jax.random.split(jax.random.key(1), len(views.seat))


@pytest.fixture(scope="module")
def decided(params, keys, views) -> Decision:
    return _decided(params, keys, views, CONFIG)


def test_the_average_is_over_valid_scenarios(decided, views) -> None:
    legal = _legal(views)
    choice = np.sum(legal, axis=1) > 1
    assert not np.all(decided.scenarios.valid)
    assert not np.any(decided.weight[~decided.scenarios.valid])
    np.testing.assert_allclose(np.sum(decided.weight, axis=1), 1, rtol=1e-5)
    # The history tells scenarios apart, so the weights are not all equal.
    assert np.max(np.max(decided.weight, axis=1) * np.sum(decided.scenarios.valid, axis=1)) > 1.02
    np.testing.assert_array_equal(np.isfinite(decided.q), legal & choice[:, None])
    for row in np.flatnonzero(choice):
        q = decided.scenario_q[row][decided.scenarios.valid[row]][:, legal[row]].astype(float)
        weight = decided.weight[row][decided.scenarios.valid[row]].astype(float)
        mean = q.T @ weight
        np.testing.assert_allclose(decided.q[row, legal[row]], mean, rtol=1e-4, atol=1e-3)
        assert decided.q[row, decided.card[row]] == np.max(decided.q[row])


def test_costs_are_budgets_and_slices(decided, views) -> None:
    legal = np.sum(_legal(views), axis=1)
    draws = np.sum(decided.scenarios.valid, axis=1)
    slices = np.sum(jax.jit(jax.vmap(lambda v: counted_slices(v, CONFIG.weights)))(views), axis=1)
    each = np.where(legal > 1, 10 + 2 * legal + slices, 0)
    assert decided.demanded == np.sum(draws * each)
    assert decided.demanded < decided.evaluated < 2 * decided.demanded


def test_forced_plays_cost_nothing(params, states) -> None:
    """Also in the first tricks, where there is a history and there are scenarios."""
    views = positions.mover_views(states)
    legal = _legal(views)
    forced = np.flatnonzero(np.sum(legal, axis=1) == 1)[:24]
    assert np.min(np.asarray(views.stage)[forced]) < 16
    decision = _decided(
        params, jax.random.split(jax.random.key(2), 24), positions.take(views, forced), CONFIG
    )
    np.testing.assert_array_equal(decision.card, np.argmax(legal[forced], axis=1))
    assert decision.demanded == decision.evaluated == 0
    assert not np.any(np.isfinite(decision.q))


def _check_same(part: Decision, expected: Decision, rows: np.ndarray) -> None:
    """`part` is what `expected` says of some of its games."""
    np.testing.assert_array_equal(part.card, expected.card[rows])
    np.testing.assert_array_equal(part.scenarios.holder, expected.scenarios.holder[rows])
    np.testing.assert_allclose(part.weight, expected.weight[rows], atol=1e-5)
    # Matrix products of another shape may round otherwise.
    np.testing.assert_allclose(part.q, expected.q[rows], rtol=1e-4, atol=1e-2)


def test_order_of_games_does_not_matter(params, keys, views, decided) -> None:
    rows = np.random.default_rng(0).permutation(len(decided.card))
    _check_same(_decided(params, keys[rows], positions.take(views, rows), CONFIG), decided, rows)


def test_number_of_games_does_not_matter(params, keys, views) -> None:
    # Small chunks, so that games share them in different ways; no tree, for speed.
    config = InferenceConfig(
        ScenarioConfig(stratified=False, draws=3),
        WeightConfig(chunk=8),
        SearchConfig(0, 1, chunk=8),
    )
    together = _decided(params, keys[:8], positions.take(views, np.arange(8)), config)
    for rows in (np.arange(3, 4), np.arange(5, 8)):
        part = _decided(params, keys[rows], positions.take(views, rows), config)
        _check_same(part, together, rows)


def test_the_key_matters(params, keys, views, decided) -> None:
    other = _decided(params, keys[::-1], views, CONFIG)
    assert np.any(other.scenarios.holder != decided.scenarios.holder)
    assert np.any(other.q != decided.q)


def test_many_scenarios_in_small_chunks(params, keys, views) -> None:
    config = InferenceConfig(
        ScenarioConfig(draws=256), WeightConfig(chunk=64), SearchConfig(0, 1, chunk=64)
    )
    decision = _decided(params, keys[:2], positions.take(views, np.arange(4, 6)), config)
    assert decision.scenario_q.shape == (2, 256, NUM_CARDS)
    used = np.sum(decision.scenarios.valid, axis=1)
    assert np.all((used > 256 - 9) & (used <= 256))
    deals = {holder.tobytes() for row in decision.scenarios.holder for holder in row}
    assert len(deals) >= np.sum(used)
    np.testing.assert_allclose(np.sum(decision.weight, axis=1), 1, rtol=1e-4)
    assert decision.evaluated - decision.demanded < 2 * 64


def test_beliefs_are_probabilities(decided, views) -> None:
    belief = np.asarray(believed_holders(decided.scenarios.holder, decided.weight))
    played = np.asarray(jax.jit(jax.vmap(played_mask))(views.plays))
    assert not np.any(belief[played])
    np.testing.assert_allclose(np.sum(belief, axis=2)[~played], 1, rtol=1e-5)
    mine = np.take_along_axis(belief, np.asarray(views.seat)[:, None, None].astype(int), axis=2)
    np.testing.assert_allclose(mine[..., 0], np.asarray(views.hand), rtol=1e-5)
    # Each hand has as many cards as are believed to be in it.
    sizes = np.sum(belief, axis=1)
    np.testing.assert_allclose(sizes, np.asarray(views.hand_sizes), rtol=1e-4)


def test_a_prior_by_hand() -> None:
    """Differences between cards are pooled, and the mean of Q stays."""
    random = np.random.default_rng(2)
    q, prior = random.normal(0, 30, (2, 3, NUM_CARDS)).astype(np.float32)
    unknown = random.random((3, NUM_CARDS)) < 0.8
    unknown[2] = True  # a forced play
    pooled = np.asarray(decisions.with_prior(jnp.where(unknown, -jnp.inf, q), prior, 0.3))
    assert np.all(pooled[unknown] == -np.inf)
    for row in range(2):
        known = np.flatnonzero(~unknown[row])
        own, other = q[row, known], prior[row, known]
        wanted = 0.7 * (own - own.mean()) + 0.3 * (other - other.mean()) + own.mean()
        np.testing.assert_allclose(pooled[row, known], wanted, atol=1e-4)


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan")])
def test_impossible_priors(share: float) -> None:
    with pytest.raises(ConfigError, match="share of a prior"):
        PriorConfig(share)


def test_equal_cards_are_searched_once(params, keys, views) -> None:
    """What is found for the lowest of equal cards is what is found without merging, and goes for
    the others."""
    one_visit = SearchConfig(0, 1)
    none = WeightConfig(rule="none")
    plain = InferenceConfig(ScenarioConfig(stratified=False), none, one_visit)
    merging = replace(plain, search=replace(one_visit, merge_equal=True))
    every = _decided(params, keys, views, plain)
    once = _decided(params, keys, views, merging)
    lowest = np.asarray(jax.vmap(lowest_equal)(views))
    legal = _legal(views)
    evaluations = merged = 0
    for row in range(len(lowest)):
        distinct = {int(lowest[row, card]) for card in np.flatnonzero(legal[row])}
        merged += int(legal[row].sum()) - len(distinct)
        if len(distinct) == 1:
            assert not np.any(once.q[row] > -np.inf)
            continue
        evaluations += len(distinct) * int(once.scenarios.valid[row].sum())
        best = max(every.q[row, card] for card in distinct)
        for card in np.flatnonzero(legal[row]):
            same = lowest[row, card]
            np.testing.assert_allclose(once.q[row, card], every.q[row, same], atol=1e-3)
            of_card, of_same = once.scenario_q[row, :, card], once.scenario_q[row, :, same]
            np.testing.assert_array_equal(of_card, of_same)
        assert not np.any(once.q[row, ~legal[row]] > -np.inf)
        np.testing.assert_allclose(once.q[row, once.card[row]], best, atol=1e-3)
    assert merged > 10
    assert once.demanded == evaluations < every.demanded
    # A race drops equal cards together.
    raced = _decided(params, keys, views, replace(merging, racing=RacingConfig(3)))
    assert raced.demanded < once.demanded
    assert np.all(legal[np.arange(len(lowest)), raced.card])
