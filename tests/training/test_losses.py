"""The loss against numbers worked out by hand, finite differences and its definition."""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax.errors import ConfigError
from gongzhu_jax.network import make
from gongzhu_jax.search import network_policy_value
from gongzhu_jax.training.config import LearnerConfig
from gongzhu_jax.training.losses import loss, policy_divergence, value_error
from gongzhu_jax.training.selfplay import Positions
from tests.game.random_games import random_states


def spread(cards: dict[int, float], fill: float = 0.0) -> np.ndarray:
    values = np.full(52, fill, np.float32)
    values[list(cards)] = list(cards.values())
    return values


def divergence(target: np.ndarray, logits: np.ndarray, legal: np.ndarray) -> float:
    return float(policy_divergence(*(jnp.asarray(leaf) for leaf in (target, logits, legal))))


# Policy

LEGAL = spread({0: 1, 1: 1})
HALVES = spread({0: 0.5, 1: 0.5})


@pytest.mark.parametrize(
    ("target", "logits", "expected"),
    [
        # All 52 alike, a sure target: -log(1/52).
        (spread({0: 1}), spread({}), math.log(52)),
        # Two halves: log(1/2) - log(1/52).
        (HALVES, spread({}), math.log(26)),
        # exp(p) = 2, 1, and 1 for each of the 50 illegal cards: shares 2/53 and 1/53.
        (HALVES, spread({0: math.log(2)}), math.log(53) - 1.5 * math.log(2)),
        # What an illegal card's logit is does not matter: 7 x 0 = 0.
        (HALVES, spread({0: math.log(2), 1: 0}, fill=7), math.log(53) - 1.5 * math.log(2)),
        # exp(p) = 50 and 50 against 50: the two have a third each.
        (HALVES, spread({0: math.log(50), 1: math.log(50)}), math.log(3 / 2)),
        # 3/4 and 1/4, exp(p) = 75, 25 and 50 in all for the illegal: shares 1/2 and 1/6.
        (
            spread({0: 0.75, 1: 0.25}),
            spread({0: math.log(75), 1: math.log(25)}),
            math.log(1.5),
        ),
    ],
)
def test_divergence(target: np.ndarray, logits: np.ndarray, expected: float) -> None:
    assert divergence(target, logits, LEGAL) == pytest.approx(expected, rel=1e-5)


def test_gradient_of_the_masked_product() -> None:
    """d KL / d p = share - target at legal cards, where the shares include exp(0) for every
    illegal card, and nothing at all at the illegal ones."""
    rng = np.random.default_rng(0)
    cards = [2, 7, 19, 33, 50]
    legal = spread(dict.fromkeys(cards, 1.0))
    logits = rng.standard_normal(52).astype(np.float32) * 2
    target = spread(dict(zip(cards, rng.dirichlet(np.ones(5)), strict=True)))
    gradient = jax.grad(policy_divergence, argnums=1)(
        jnp.asarray(target), jnp.asarray(logits), jnp.asarray(legal)
    )

    weights = np.exp(logits[cards].astype(float))
    expected = np.zeros(52)
    expected[cards] = weights / (weights.sum() + 52 - 5) - target[cards]
    np.testing.assert_allclose(gradient, expected, atol=1e-6)
    np.testing.assert_array_equal(np.asarray(gradient)[legal == 0], 0.0)

    # The usual mask, minus infinity, would share among the legal cards alone: another gradient.
    usual = weights / weights.sum() - target[cards]
    assert np.abs(usual - expected[cards]).max() > 0.1


def test_masked_after_the_softmax() -> None:
    """The logits of illegal cards count in full, and their gradient is their share."""
    logits = spread({0: math.log(2), 1: 0.0}, fill=math.log(0.5))  # 2, 1 and 50 halves: of 28
    divergence = functools.partial(policy_divergence, mask="after")
    after = divergence(jnp.asarray(HALVES), jnp.asarray(logits), jnp.asarray(LEGAL))
    assert after == pytest.approx(math.log(28) - 1.5 * math.log(2), rel=1e-5)
    gradient = jax.grad(divergence, argnums=1)(
        jnp.asarray(HALVES), jnp.asarray(logits), jnp.asarray(LEGAL)
    )
    np.testing.assert_allclose(gradient[:3], [2 / 28 - 0.5, 1 / 28 - 0.5, 0.5 / 28], atol=1e-6)


def test_gradient_by_finite_differences() -> None:
    rng = np.random.default_rng(1)
    legal = spread(dict.fromkeys([5, 6, 7], 1.0))
    logits = rng.standard_normal(52).astype(np.float32)
    target = spread({5: 0.2, 6: 0.3, 7: 0.5})
    gradient = jax.grad(policy_divergence, argnums=1)(
        jnp.asarray(target), jnp.asarray(logits), jnp.asarray(legal)
    )
    step = 0.05
    for card in (5, 6, 7, 8, 51):
        unit = step * (np.arange(52) == card).astype(np.float32)
        slope = divergence(target, logits + unit, legal) - divergence(target, logits - unit, legal)
        assert slope / (2 * step) == pytest.approx(float(gradient[card]), abs=2e-3)


# Value


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("absolute", (1 + 2 + 2 + 5) / 4),
        ("rmse", math.sqrt((1 + 4 + 4 + 25) / 4)),
    ],
)
def test_value_error(kind: str, expected: float) -> None:
    target, value = jnp.asarray([10.0, 0.0, -3.0, 8.0]), jnp.asarray([9.0, 2.0, -1.0, 3.0])
    assert value_error(target, value, kind) == pytest.approx(expected, rel=1e-6)


def test_root_mean_square_can_be_learnt_from_at_zero_error() -> None:
    value = jnp.asarray([1.0, -2.0])
    gradient = jax.grad(lambda v: value_error(value, v, "rmse"))(value)
    np.testing.assert_array_equal(gradient, 0.0)


# Both


def positions(count: int) -> tuple[Positions, np.ndarray]:
    """Random positions with random targets, every third not searched, and their legal masks."""
    states, games = random_states(5, 128)
    states, games = jax.tree.map(lambda leaf: leaf[:count], states), games[:count]
    rng = np.random.default_rng(5)
    legal = np.zeros((count, 52), bool)
    policy = np.zeros((count, 52), np.float32)
    for row, game in enumerate(games):
        cards = game.legal()
        legal[row, cards] = True
        policy[row, cards] = rng.dirichlet(np.ones(len(cards)))
    value = rng.normal(0, 60, count).astype(np.float32)
    searched = np.arange(count) % 3 != 0
    states, targets = jax.tree.map(jnp.asarray, (states, (policy, value, searched)))
    return Positions(states, *targets), legal


NETWORK = make("compact", stem=32, width=16, blocks=1)


@functools.cache
def params() -> Any:
    return jax.jit(NETWORK.init)(jax.random.key(0))


def config_of(kind: str) -> LearnerConfig:
    return LearnerConfig(value_loss=kind, value_weight=0.5)


_apply = jax.jit(network_policy_value(NETWORK))
_loss = jax.jit(loss, static_argnames=("network", "config"))


def minibatch_loss(batch: Positions, config: LearnerConfig) -> tuple[jax.Array, tuple]:
    return _loss(params(), batch, network=NETWORK, config=config)


@pytest.mark.parametrize("kind", ["absolute", "rmse"])
def test_loss_of_a_minibatch(kind: str) -> None:
    """The policy's part is a mean over the searched positions, the value's over all."""
    batch, legal = positions(24)
    total, (parts, updated) = minibatch_loss(batch, config_of(kind))

    outputs = _apply(params(), batch.state)
    logits, value = (np.asarray(leaf, float) for leaf in outputs)
    masked = logits * legal
    log_policy = masked - np.log(np.exp(masked).sum(1, keepdims=True))
    target = np.asarray(batch.policy, float)
    with np.errstate(divide="ignore"):
        log_target = np.where(target > 0, np.log(target), 0.0)
    kl = np.sum(target * (log_target - log_policy), axis=1)
    error = value - np.asarray(batch.value, float)
    expected_error = np.abs(error).mean() if kind == "absolute" else np.sqrt((error**2).mean())
    policy = kl[np.asarray(batch.searched)].mean()
    assert parts.policy == pytest.approx(policy, rel=1e-5)
    assert parts.value == pytest.approx(expected_error, rel=1e-5)
    assert total == parts.total == pytest.approx(policy + 0.5 * expected_error, rel=1e-5)
    assert updated.keys() == params().keys()


def test_weight_of_the_paper() -> None:
    assert LearnerConfig().value_weight == 0.03
    assert LearnerConfig().value_loss == "absolute"


def test_a_minibatch_of_forced_cards_teaches_no_policy() -> None:
    batch, _ = positions(24)
    batch = batch.replace(searched=jnp.zeros(24, bool))
    total, (parts, _) = minibatch_loss(batch, config_of("absolute"))
    assert parts.policy == 0
    assert total == pytest.approx(0.5 * float(parts.value), rel=1e-6)


def test_the_mask_of_the_configuration_is_used() -> None:
    batch, _ = positions(24)
    before, after = (
        float(minibatch_loss(batch, LearnerConfig(mask=mask))[1][0].policy)
        for mask in ("before", "after")
    )
    logits = np.asarray(_apply(params(), batch.state)[0], float)
    log_policy = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    target = np.asarray(batch.policy, float)
    entropy = np.sum(np.where(target > 0, target * np.log(np.maximum(target, 1e-30)), 0.0), axis=1)
    divergence = entropy - np.sum(target * log_policy, axis=1)
    assert after == pytest.approx(divergence[np.asarray(batch.searched)].mean(), rel=1e-5)
    assert abs(after - before) > 1e-3
    with pytest.raises(ConfigError, match="before, after"):
        LearnerConfig(mask="never")


def test_unknown_value_loss() -> None:
    with pytest.raises(ConfigError, match="absolute, rmse"):
        LearnerConfig(value_loss="huber")
