"""A decision under hidden information: scenarios, their weights, a search of each, and the
weighted average of Q (sections 4 and 5). Axes: B decisions, N scenarios each."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game.view import PublicView, with_deal
from gongzhu_jax.game.view import legal_mask as legal_of_view
from gongzhu_jax.inference.belief import log_odds
from gongzhu_jax.inference.config import InferenceConfig
from gongzhu_jax.inference.constraints import opponents
from gongzhu_jax.inference.habits import log_likelihood
from gongzhu_jax.inference.likelihood import log_weights
from gongzhu_jax.inference.odds import log_weight
from gongzhu_jax.inference.scenarios import Scenarios, draw_scenarios
from gongzhu_jax.inference.selection import select
from gongzhu_jax.network.registry import Network
from gongzhu_jax.search.mcts import best_card, network_policy_value, search

DRAWN_AT_ONCE = 512
"""Deals drawn together: each looks up its stratum in tables of 50 kB."""


class InferenceParams(struct.PyTreeNode):
    """What may change without compiling anew."""

    network: Any
    beta: jax.Array  # [] float32
    exploration: jax.Array  # [] float32, c of UCB1
    belief: Any = ()  # parameters of the learned belief, where it is used
    habits: Any = ()  # of the learned habits, where they are used
    draw_temper: jax.Array | float = 1.0  # [] of draws by belief
    weight_temper: jax.Array | float = 1.0  # [] of weights by belief
    trust: jax.Array | float = 1.0  # [] in habits


class Decision(struct.PyTreeNode):
    """What was thought, for the move and for whoever asks why."""

    card: jax.Array  # [B] int8
    q: jax.Array  # [B, 52] weighted average in points; -inf for illegal cards, and where forced
    scenario_q: jax.Array  # [B, N, 52]
    weight: jax.Array  # [B, N] normalised
    scenarios: Scenarios  # [B]
    demanded: jax.Array  # [] int32, evaluations that scenarios, budgets and slices ask for
    evaluated: jax.Array  # [] int32, evaluations made


def make_params(
    network_params: Any, config: InferenceConfig, belief_params: Any = (), habits_params: Any = ()
) -> InferenceParams:
    return InferenceParams(
        network=network_params,
        beta=jnp.float32(config.weights.beta),
        exploration=jnp.float32(config.search.exploration),
        belief=belief_params,
        habits=habits_params,
        draw_temper=jnp.float32(config.scenarios.temper),
        weight_temper=jnp.float32(config.weights.temper),
        trust=jnp.float32(config.weights.trust),
    )


def decide(
    params: InferenceParams,
    keys: jax.Array,
    views: PublicView,
    network: Network,
    config: InferenceConfig,
) -> Decision:
    """Decides for every view, [B], each with its own key, whatever the others are."""
    split = jax.vmap(jax.random.split)(keys)
    at_once = max(1, DRAWN_AT_ONCE // config.scenarios.drawn)
    odds = None
    if config.uses_belief:
        if config.belief is None:
            raise ConfigError("a decision by belief needs the belief's network")
        odds = log_odds(params.belief, views, config.belief)
    scenarios = jax.lax.map(
        lambda item: draw_scenarios(
            item[0],
            item[1],
            config.scenarios,
            None if odds is None else params.draw_temper * item[2],
        ),
        (split[:, 0], views, odds),
        batch_size=min(at_once, len(keys)),
    )
    return decide_in(params, split[:, 1], views, scenarios, network, config, odds)


def decide_in(
    params: InferenceParams,
    keys: jax.Array,
    views: PublicView,
    scenarios: Scenarios,
    network: Network,
    config: InferenceConfig,
    odds: jax.Array | None = None,
) -> Decision:
    """Decides in given scenarios; `odds`, [B, 52, 3], are the belief's where it gives weights."""
    legal = jax.vmap(legal_of_view)(views)
    has_choice = jnp.sum(legal, axis=-1) > 1
    active = scenarios.valid & has_choice[:, None]
    by_history, slices, slices_evaluated = log_weights(
        params.network, views, scenarios.holder, params.beta, network, config.weights, active
    )
    if config.weights.by_belief:
        if odds is None:
            raise ConfigError("weights by belief need its odds")
        opponent = jax.vmap(opponents)(views, scenarios.holder)
        share = 1 - params.trust if config.weights.by_habits else 1.0
        by_history += share * params.weight_temper * jax.vmap(log_weight)(odds, opponent)
    if config.weights.by_habits:
        if config.habits is None:
            raise ConfigError("weights by habits need their network")
        by_history += params.trust * log_likelihood(
            params.habits, views, scenarios.holder, config.habits, has_choice
        )
    weight = normalise(scenarios.log_weight + by_history)
    if config.scenarios.drawn > config.scenarios.draws:
        keys, chosen = jnp.moveaxis(jax.vmap(jax.random.split)(keys), 1, 0)
        scenarios, weight = _kept(chosen, scenarios, weight, config.scenarios.draws)
        active = scenarios.valid & has_choice[:, None]

    states = jax.vmap(jax.vmap(with_deal, (None, 0)))(views, scenarios.holder)
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), states)
    result = search(
        params.network,
        keys[0],  # UCB1 draws nothing at random; the Gumbel policy draws for the whole batch
        flat,
        network_policy_value(network),
        config.search,
        active=active.reshape(-1),
        exploration=params.exploration,
    )
    scenario_q = result.q.reshape(*scenarios.valid.shape, -1)
    q = weighted_mean(scenario_q, weight, legal & has_choice[:, None])
    return Decision(
        card=jax.vmap(best_card)(keys, q, legal),
        q=q,
        scenario_q=scenario_q,
        weight=weight,
        scenarios=scenarios,
        demanded=result.demanded + slices,
        evaluated=result.evaluated + slices_evaluated,
    )


def _kept(
    keys: jax.Array, scenarios: Scenarios, weight: jax.Array, count: int
) -> tuple[Scenarios, jax.Array]:
    """`count` of the scenarios of each decision, and their weights."""
    place, weight = jax.vmap(select, (0, 0, None))(keys, weight, count)
    kept: Scenarios = jax.tree.map(lambda leaf: jax.vmap(lambda x, i: x[i])(leaf, place), scenarios)
    return kept.replace(valid=weight > 0), weight


def normalise(log_weight: jax.Array) -> jax.Array:
    """Weights [..., N] that sum to 1 from unnormalised logs; all 0 if no scenario is valid."""
    return jnp.where(
        jnp.any(log_weight > -jnp.inf, axis=-1, keepdims=True),
        jax.nn.softmax(log_weight, axis=-1),
        0.0,
    )


def weighted_mean(scenario_q: jax.Array, weight: jax.Array, legal: jax.Array) -> jax.Array:
    """[B, 52] from [B, N, 52] and [B, N]; -inf where not legal."""
    known = jnp.where(scenario_q > -jnp.inf, scenario_q, 0.0)
    mean = jnp.einsum("bnc,bn->bc", known, weight, precision=jax.lax.Precision.HIGHEST)
    return jnp.where(legal, mean, -jnp.inf)


def effective_sample_size(weight: jax.Array) -> jax.Array:
    """1 / sum of squares of normalised weights [..., N]: how many equal ones they are worth."""
    return 1 / jnp.maximum(jnp.sum(jnp.square(weight), axis=-1), 1e-12)
