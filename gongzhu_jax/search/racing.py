"""Racing: a card that is clearly worse than the best one is searched in no further scenarios.

The scenarios of a decision are searched in blocks. After each block, a card is dropped if its mean
of Q is too many standard errors below the best card's, where the two are compared scenario by
scenario; a decision with one card left is over (Hoeffding races, Maron and Moore, 1994, with
standard errors in place of Hoeffding's bounds). So a close decision gets many scenarios, and a
clear one few. Axes: B decisions, N scenarios each.
"""

from collections.abc import Callable
from typing import Any

import chex
import jax
import jax.numpy as jnp
from flax import struct

from gongzhu_jax.game.cards import NUM_CARDS
from gongzhu_jax.search.config import RacingConfig
from gongzhu_jax.search.mcts import SearchResult

SearchFn = Callable[[Any, jax.Array, jax.Array], SearchResult]
"""(scenarios [B, n], active bool[B, n], cards bool[B, 52]) -> a search of B x n roots"""


class Race(struct.PyTreeNode):
    """What a race leaves."""

    scenario_q: jax.Array  # [B, N, 52]; -inf where a card was not searched any more
    contenders: jax.Array  # [B, 52] bool, the cards that were not dropped
    demanded: jax.Array  # [] int32, evaluations
    evaluated: jax.Array  # [] int32, the same with those that filled batches up


def race(
    search: SearchFn,
    scenarios: Any,
    weight: jax.Array,
    active: jax.Array,
    legal: jax.Array,
    config: RacingConfig,
) -> Race:
    """Races the legal cards, bool[B, 52].

    Args:
      scenarios: a tree of arrays [B, N, ...], with normalised weights [B, N], the largest first:
        what has little weight cannot decide a race before what has much is seen.
      active: bool[B, N], those that are searched.
    """
    batch, draws = weight.shape
    chex.assert_tree_shape_prefix(scenarios, (batch, draws))
    chex.assert_shape(active, (batch, draws))
    chex.assert_shape(legal, (batch, NUM_CARDS))

    def run_block(number: jax.Array, before: Race) -> Race:
        first = number * config.block
        part, searched = jax.tree.map(
            lambda leaf: jax.lax.dynamic_slice_in_dim(leaf, first, config.block, 1),
            (scenarios, active),
        )
        is_open = jnp.sum(before.contenders, axis=1) > 1
        result = search(part, searched & is_open[:, None], before.contenders)
        q = result.q.reshape(batch, config.block, NUM_CARDS)
        scenario_q = jax.lax.dynamic_update_slice_in_dim(before.scenario_q, q, first, 1)
        return Race(
            scenario_q,
            contenders(scenario_q, weight, before.contenders, config.errors),
            before.demanded + result.demanded,
            before.evaluated + result.evaluated,
        )

    nothing = jnp.full((batch, draws, NUM_CARDS), -jnp.inf)
    start = Race(nothing, legal, jnp.int32(0), jnp.int32(0))
    return jax.lax.fori_loop(0, draws // config.block, run_block, start)


def contenders(
    scenario_q: jax.Array, weight: jax.Array, cards: jax.Array, errors: float
) -> jax.Array:
    """Those of the cards [B, 52] that are at most so many standard errors below the best of them,
    bool[B, 52]. All of them were searched in the same scenarios."""
    known = jnp.where(cards[:, None] & (scenario_q > -jnp.inf), scenario_q, 0.0)
    searched = jnp.any(cards[:, None] & (scenario_q > -jnp.inf), axis=2)
    share = shares(weight, searched)
    mean = jnp.sum(share[..., None] * known, axis=1)
    best = jnp.argmax(jnp.where(cards, mean, -jnp.inf), axis=1)
    below = jnp.take_along_axis(known, best[:, None, None], axis=2) - known
    gap = jnp.take_along_axis(mean, best[:, None], axis=1) - mean
    variance = jnp.sum(jnp.square(share[..., None] * (below - gap[:, None])), axis=1)
    # Few scenarios are closer to their own mean than to the true one; one alone says nothing of it.
    freedom = 1 - jnp.sum(jnp.square(share), axis=1, keepdims=True)
    return cards & (gap <= errors * jnp.sqrt(variance / jnp.maximum(freedom, 1e-12)))


def mean_of_searched(scenario_q: jax.Array, weight: jax.Array, legal: jax.Array) -> jax.Array:
    """The average of each card's Q over the scenarios in which it was searched, [B, 52]; -inf where
    a card is not legal or was never searched."""
    searched = scenario_q > -jnp.inf
    share = shares(weight[..., None], searched)
    mean = jnp.sum(share * jnp.where(searched, scenario_q, 0.0), axis=1)
    return jnp.where(legal & jnp.any(searched, axis=1), mean, -jnp.inf)


def shares(weight: jax.Array, searched: jax.Array) -> jax.Array:
    """Weights that sum to 1 over the second axis, where the scenarios are, of those searched."""
    share = jnp.where(searched, weight, 0.0)
    return share / jnp.maximum(jnp.sum(share, axis=1, keepdims=True), 1e-30)
