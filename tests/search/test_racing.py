"""Racing against the same race in plain Python, scenario by scenario and card by card."""

import math
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax import network, players
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game.public_view import PublicView
from gongzhu_jax.inference.config import (
    InferenceConfig,
    ScenarioConfig,
    WeightConfig,
    make_params,
)
from gongzhu_jax.inference.decision import Decision, decide
from gongzhu_jax.inference.explanation import q_standard_error
from gongzhu_jax.search import SearchConfig
from gongzhu_jax.search.config import RacingConfig
from tests import positions

NET = network.make("compact", stem=32, width=16, blocks=1)
BLOCK, ROUNDS = 4, 6
FULL = InferenceConfig(
    ScenarioConfig(stratified=False, draws=BLOCK * ROUNDS),
    WeightConfig(beta=0.02, slices="every"),
    SearchConfig(0, 1),
)


@pytest.fixture(scope="module")
def views() -> PublicView:
    states = positions.random_states(0, list(range(2, 44)))
    return positions.mover_views(states)


def decided(views: PublicView, racing: RacingConfig) -> Decision:
    config = replace(FULL, racing=racing)

    @jax.jit
    def run(views: PublicView) -> Decision:
        # Larger values than an untrained network has, so that cards differ.
        untrained = NET.init(jax.random.key(0))
        params = make_params(jax.tree.map(lambda leaf: 3 * leaf, untrained), config)
        keys = jax.random.split(jax.random.key(1), len(views.seat))
        return decide(params, keys, views, NET, config)

    return jax.device_get(run(views))


@pytest.fixture(scope="module")
def full(views: PublicView) -> Decision:
    """Without a race, with the scenarios of the largest weights first."""
    decision = decided(views, RacingConfig())
    order = np.argsort(-decision.weight, axis=1, kind="stable")
    rows = np.arange(len(order))[:, None]
    of_scenarios = decision.scenario_q, decision.weight, decision.scenarios
    q, weight, scenarios = jax.tree.map(lambda leaf: leaf[rows, order], of_scenarios)
    return decision.replace(scenario_q=q, weight=weight, scenarios=scenarios)


def race_by_hand(q: np.ndarray, weight: np.ndarray, errors: float) -> tuple[list[int], list[int]]:
    """The cards that are left, and for each card [52] in how many scenarios it was searched."""
    left = [card for card in range(52) if q[0, card] > -math.inf]
    searched = [0] * 52
    for end in range(BLOCK, BLOCK * ROUNDS + 1, BLOCK):
        if len(left) < 2:
            break
        total = sum(weight[:end])
        share = [w / total for w in weight[:end]]
        for card in left:
            searched[card] = end
        mean = {card: sum(share[n] * q[n, card] for n in range(end)) for card in left}
        best = max(left, key=lambda card: mean[card])
        kept = []
        for card in left:
            gap = mean[best] - mean[card]
            squares = [(share[n] * (q[n, best] - q[n, card] - gap)) ** 2 for n in range(end)]
            error = math.sqrt(sum(squares) / (1 - sum(s * s for s in share)))
            if gap <= errors * error:
                kept.append(card)
        left = kept
    return left, searched


@pytest.mark.parametrize("errors", [1.0, 2.0])
def test_a_race_by_hand(views: PublicView, full: Decision, errors: float) -> None:
    raced = decided(views, RacingConfig(BLOCK, errors))
    np.testing.assert_array_equal(raced.scenarios.holder, full.scenarios.holder)
    evaluations, earlier = 0, 0
    for row in range(len(views.seat)):
        all_q = np.asarray(full.scenario_q[row], float)
        weight = np.asarray(full.weight[row], float)
        left, searched = race_by_hand(all_q, weight, errors)
        assert [*np.sum(raced.scenario_q[row] > -np.inf, axis=0)] == searched
        for card in np.flatnonzero(searched):
            count = searched[card]
            seen = all_q[:count, card]
            np.testing.assert_allclose(raced.scenario_q[row, :count, card], seen, atol=1e-3)
            mean = weight[:count] @ seen / weight[:count].sum()
            np.testing.assert_allclose(raced.q[row, card], mean, rtol=1e-4, atol=1e-3)
        if left:
            assert raced.card[row] == max(left, key=lambda card: raced.q[row, card])
        evaluations += sum(searched)
        earlier += 0 < max(searched) < BLOCK * ROUNDS
    assert earlier > 10  # decisions that were over before the last block
    rule = full.demanded - np.sum(full.scenario_q > -np.inf)
    assert raced.demanded == evaluations + rule
    assert raced.demanded < full.demanded


def test_without_a_limit_nothing_is_dropped(views: PublicView, full: Decision) -> None:
    raced = decided(views, RacingConfig(BLOCK, 1e30))
    np.testing.assert_array_equal(raced.card, full.card)
    np.testing.assert_allclose(raced.q, full.q, rtol=1e-4, atol=1e-3)
    assert raced.demanded == full.demanded


def test_one_block_is_no_race(views: PublicView, full: Decision) -> None:
    """Settings with a race can be given fewer scenarios than one block has."""
    for block in (BLOCK * ROUNDS, BLOCK * ROUNDS + 1):
        at_once = decided(views, RacingConfig(block))
        np.testing.assert_array_equal(at_once.card, full.card)
        assert at_once.demanded == full.demanded


def test_errors_are_over_the_scenarios_searched() -> None:
    """A card with Q 10 and 30 in scenarios of weight 0.25 and 0.5 that was then dropped."""
    q = np.full((1, 3, 52), -np.inf, np.float32)
    q[0, :2, 0], q[0, :, 1] = (10.0, 30.0), (40.0, 50.0, 60.0)
    weight = np.array([[0.25, 0.5, 0.25]], np.float32)
    mean = np.full((1, 52), -np.inf, np.float32)
    mean[0, :2] = 70 / 3, 50.0
    decision = Decision(*map(jnp.asarray, ([1], mean, q, weight)), None, None, None)  # ty: ignore[invalid-argument-type]
    error = q_standard_error(decision)[0, :2]
    first = math.hypot(1 / 3 * (70 / 3 - 10), 2 / 3 * (30 - 70 / 3))
    np.testing.assert_allclose(error, [first, math.hypot(2.5, 2.5)], rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"racing.block": 4}, "multiple of racing.block"),
        ({"racing.block": 5, "search.per_legal": 2}, "one visit per legal card"),
        ({"racing.block": 5, "scenarios.stratified": True}, "in random order"),
        ({"racing.errors": float("nan")}, "at least 0"),
        ({"racing.block": -1}, "at least 0"),
        ({"racing.block": 1}, "one alone has no standard error"),
    ],
)
def test_impossible_races(options: dict, message: str) -> None:
    draws = {"scenarios.draws": 10}
    with pytest.raises(ConfigError, match=message):
        players.make("raw", **draws, **options)
