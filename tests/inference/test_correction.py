"""Scenario weights against the plain-Python oracle and the golden records."""

import functools
import itertools
import math
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax.device_profile import profile
from gongzhu_jax.game.cards import NUM_CARDS
from gongzhu_jax.game.public_view import PublicView
from gongzhu_jax.inference.config import WeightConfig
from gongzhu_jax.inference.correction import class_sums, log_weights
from gongzhu_jax.inference.registry import RULES
from gongzhu_jax.inference.sampling import sample
from gongzhu_jax.inference.scenarios import Scenarios
from gongzhu_jax.network import NUM_FEATURES
from tests import positions
from tests.oracle import data, features, iec
from tests.oracle.data import load

STAGES = list(range(NUM_CARDS)) * 2
DRAWS = 2
POLICY = np.random.default_rng(0).normal(0, 0.5, (NUM_FEATURES, NUM_CARDS)).astype(np.float32)
"""Regrets of some 40 points, a few of them beyond the clipped line."""


class Linear:
    """A network without layers: logits are a product of inputs and parameters [434, 52]."""

    def apply(self, params, x):
        return jnp.matmul(x, params, precision=jax.lax.Precision.HIGHEST), jnp.zeros(x.shape[:-1])


def linear_policy(x: list[float]) -> list[float]:
    """The same in the eyes of the oracle."""
    return (np.array(x) @ POLICY.astype(np.float64)).tolist()


@functools.cache
def _compiled(network: Any, config: WeightConfig) -> Any:
    """One program for all beta."""
    return jax.jit(
        lambda params, views, holder, beta, active=None: log_weights(
            params, views, holder, beta, network, config, active
        )
    )


LINEAR = Linear()


def _log_weights(views: PublicView, holder: Any, config: WeightConfig, **options: Any) -> Any:
    """Log weights [B, N], slices that count, slices evaluated."""
    params, network = options.get("params", POLICY), options.get("network", LINEAR)
    run = _compiled(network, replace(config, beta=0.0))
    weighed = run(params, views, holder, jnp.float32(config.beta), options.get("active"))
    return tuple(np.asarray(x) for x in (weighed.log_weight, weighed.demanded, weighed.evaluated))


@pytest.fixture(scope="module")
def views() -> PublicView:
    return positions.random_views(0, STAGES)


@pytest.fixture(scope="module")
def holder(views) -> np.ndarray:
    """[B, N, 52]: deals that agree with the views."""
    keys = jax.random.split(jax.random.key(0), len(STAGES))
    deals = jax.jit(jax.vmap(lambda key, view: sample(key, view, DRAWS)))(keys, views)
    return np.asarray(deals)


def _histories(views: PublicView) -> list[tuple[int, list[int], int]]:
    """Leader, plays and seat of each view."""
    leaders, plays, seats = (np.asarray(x) for x in (views.leaders, views.plays, views.seat))
    return [
        (int(leaders[i, 0]), [card for card in plays[i].tolist() if card >= 0], int(seats[i]))
        for i in range(len(seats))
    ]


def _expected(
    history: tuple[int, list[int], int], deal: list[int], config: WeightConfig
) -> tuple[float, int]:
    """The oracle's log weight and number of slices."""
    common: dict[str, Any] = {
        "beta": config.beta,
        "inputs": config.inputs,
        "min_rank": config.min_rank if config.slices == "important" else 2,
        "suit_rule": config.suit_rule and config.slices == "important",
    }
    kind: dict[str, Any] = {"factor": config.factor, "regret": config.regret}
    log_weight, used = iec.iec_log_weight(*history, deal, linear_policy, **common, **kind)
    if config.rule == "bayes":
        log_weight = iec.bayes_log_weight(*history, deal, linear_policy, **common)
    elif config.rule == "iec-class":
        log_weight = iec.class_log_weight(*history, deal, linear_policy, **common)
    return log_weight, len(used)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"beta": 0.05},
        {"factor": "clipped", "beta": 0.03},
        {"regret": "suit"},
        {"factor": "clipped", "regret": "suit"},
        {"min_rank": 11},
        {"suit_rule": False, "min_rank": 2},
        {"slices": "every"},
        {"inputs": "onehot"},
        {"rule": "bayes"},
        {"rule": "bayes", "beta": 0.0},
        {"rule": "bayes", "beta": 0.05, "inputs": "onehot", "slices": "every"},
        {"rule": "iec-class", "beta": 0.05},
        {"rule": "iec-class", "min_rank": 13, "suit_rule": False, "inputs": "onehot"},
    ],
    ids=lambda options: ",".join(f"{k}={v}" for k, v in options.items()) or "paper",
)
def test_weights_are_those_of_the_oracle(views, holder, options: dict[str, Any]) -> None:
    config = WeightConfig(**options)
    logs, counted, evaluated = _log_weights(views, holder, config)
    expected = [
        [_expected(history, deal, config) for deal in deals.tolist()]
        for history, deals in zip(_histories(views), holder, strict=True)
    ]
    np.testing.assert_allclose(logs, [[w for w, _ in row] for row in expected], atol=1e-4)
    slices = sum(number for row in expected for _, number in row)
    assert counted == slices > 0
    chunk = config.chunk or profile().states
    assert evaluated == -(-slices // chunk) * chunk
    assert np.std(logs) > 0.1


@pytest.mark.parametrize(("per_player", "least", "most"), [(1, 1.05, 1.2), (5, 2.0, 3.5)])
def test_how_good_the_integral_over_a_class_is(per_player: int, least: float, most: float) -> None:
    """The sum over all ways to deal five irrelevant cards to three players, over the paper's closed
    form: close for one slice of each player, far off for five, since the denominators of a player
    are all large or all small together."""
    random = np.random.default_rng(per_player)
    others, irrelevant, beta = 2, 5, 0.015
    q = random.normal(0, 20, (3 * per_player, others + irrelevant)).astype(np.float32)
    q[:, others:] = q[:1, others:]  # the same at every slice, whoever plays
    lent = jnp.arange(others + irrelevant) >= others
    sums = [class_sums(row, lent | True, lent, jnp.float32(beta)) for row in q]
    closed = [float(of.log_gamma[0] - of.log_denominator) for of in sums]
    gamma = np.exp(beta * q.astype(np.float64))
    exact = 0.0
    for owners in itertools.product(range(3), repeat=irrelevant):
        held = [gamma[0, others:][np.array(owners) == player].sum() for player in range(3)]
        denominator = gamma[:, :others].sum(axis=1) + np.tile(held, per_player)
        exact += float(np.prod(gamma[:, 0] / denominator))
    assert least < exact / 3**irrelevant / math.exp(sum(closed)) < most


def test_clipping_is_reached(views, holder) -> None:
    """Otherwise the comparison above would say nothing about it."""
    config = WeightConfig(factor="clipped", beta=0.03)
    factors = [
        factor
        for history, deals in zip(_histories(views)[::8], holder[::8], strict=True)
        for *_, factor in iec.iec_log_weight(
            *history, deals[0].tolist(), linear_policy, factor="clipped", beta=config.beta
        )[1]
    ]
    assert 0.05 < np.mean(np.array(factors) == 0.1) < 0.95


class Reference:
    """The linear policy of the golden records, on the original's input layout."""

    def apply(self, params, x):
        table = x[:, features.TRICK : features.POINTS]
        # `features.to_reference`: the diffused cells lie one earlier, and S2 lights none of the
        # first slot.
        first_is_s2 = (table[:, :1] > 0) & (np.arange(table.shape[1]) < 3)[None]
        table = jnp.where(first_is_s2, 0.0, table)
        hands, points = x[:, : features.TRICK], x[:, features.POINTS :]
        x = jnp.concatenate([hands, points, table[:, 1:], jnp.zeros((len(x), 1))], axis=1)
        return LINEAR.apply(params, x)


def test_golden_records() -> None:
    records = load("iec")
    views = positions.golden_views(records)
    holder = np.array([[record["scenario_owner"]] for record in records], np.int8)
    config = WeightConfig(factor="clipped", regret="suit")
    params = np.array(data._WP, np.float32).T
    logs, counted, _ = _log_weights(views, holder, config, params=params, network=Reference())
    expected = [math.log(record["weight"]) for record in records]
    np.testing.assert_allclose(logs[:, 0], expected, atol=1e-4)
    assert counted == sum(len(record["factors"]) for record in records)


# what does not matter


class Selective:
    """Not a number but at the stages that `params[1]`, bool[52], allows.

    Inputs tell the stage: the shares of each card in hand sum to 1.
    """

    def apply(self, params, x):
        weights, allowed = params
        in_hand = jnp.sum(x[:, : features.TRICK], axis=1)
        stage = (NUM_CARDS - jnp.round(in_hand)).astype(jnp.int32)
        logits, value = LINEAR.apply(weights, x)
        return jnp.where(allowed[stage][:, None], logits, jnp.nan), value


@pytest.mark.parametrize("slices", ["important", "every"])
def test_only_slices_that_count_are_looked_at(views, holder, slices: str) -> None:
    """My own plays, and those that the rules of importance leave out, could be anything."""
    config, network = WeightConfig(slices=slices), Selective()
    everything = _log_weights(views, holder, config)[0]
    left_out = 0
    for i in range(5, len(STAGES), 8):
        leader, plays, seat = _histories(views)[i]
        rules: dict[str, Any] = {} if slices == "important" else {"min_rank": 2, "suit_rule": False}
        used = iec.iec_log_weight(
            leader, plays, seat, holder[i, 0].tolist(), linear_policy, **rules
        )[1]
        allowed = np.zeros(NUM_CARDS, bool)
        allowed[[plays.index(card) for _, card, _ in used]] = True
        left_out += len(plays) - len(used)
        one = positions.take(views, np.array([i]))
        params = (POLICY, allowed)
        logs = _log_weights(one, holder[[i]], config, params=params, network=network)[0]
        np.testing.assert_allclose(logs[0], everything[i], atol=1e-5)
        if len(used) > 1:
            allowed[plays.index(used[0][1])] = False
            logs = _log_weights(one, holder[[i]], config, params=params, network=network)[0]
            assert np.all(np.isnan(logs))
    assert left_out > 50


def test_order_of_scenarios_does_not_matter(views, holder) -> None:
    config = WeightConfig()
    forth, back = (_log_weights(views, h, config)[0] for h in (holder, holder[:, ::-1]))
    np.testing.assert_allclose(back, forth[:, ::-1], atol=1e-5)
    # Scenarios do differ, so the order could have mattered.
    assert np.mean(np.abs(forth[:, 0] - forth[:, 1]) > 0.01) > 0.3


def test_chunk_size_does_not_matter(views, holder) -> None:
    expected = _log_weights(views, holder, WeightConfig())
    in_chunks = _log_weights(views, holder, WeightConfig(chunk=7))
    np.testing.assert_allclose(in_chunks[0], expected[0], atol=1e-5)
    assert in_chunks[1] == expected[1]


@pytest.mark.parametrize("factor", ["exponential", "clipped"])
def test_no_certainty_gives_equal_weights(views, holder, factor: str) -> None:
    config = WeightConfig(beta=0.0, factor=factor)
    assert not np.any(_log_weights(views, holder, config)[0])


def test_no_weights_cost_nothing(views, holder) -> None:
    valid = np.ones(holder.shape[:2], bool)
    scenarios: Any = Scenarios(holder, holder, jnp.asarray(valid), jnp.zeros(valid.shape))
    rule: Any = RULES["none"]
    found = rule(None, views, scenarios, valid, None, None)
    assert found.log_weight.shape == (len(STAGES), DRAWS)
    assert not np.any(found.log_weight)
    assert found.demanded == found.evaluated == 0


def test_inactive_scenarios_cost_nothing(views, holder) -> None:
    config = WeightConfig()
    everything, counted, _ = _log_weights(views, holder, config)
    active = np.random.default_rng(1).random(holder.shape[:2]) < 0.5
    logs, fewer, _ = _log_weights(views, holder, config, active=active)
    np.testing.assert_allclose(logs, np.where(active, everything, 0), atol=1e-5)
    rest = _log_weights(views, holder, config, active=~active)[1]
    assert 0 < fewer < counted == fewer + rest
    nothing = _log_weights(views, holder, config, active=np.zeros_like(active))
    assert not np.any(nothing[0])
    assert nothing[1] == nothing[2] == 0
