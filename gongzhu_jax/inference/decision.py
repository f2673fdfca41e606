"""A decision under hidden information: scenarios, their weights, a search of each, and the
weighted average of Q (sections 4 and 5). Axes: B decisions, N scenarios each."""

from typing import TypeVar

import chex
import jax
import jax.numpy as jnp
from flax import struct

from gongzhu_jax.device_profile import profile
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game.cards import NUM_CARDS
from gongzhu_jax.game.equal_cards import lowest_equal
from gongzhu_jax.game.public_view import PublicView, assert_views, legal_mask, with_deal
from gongzhu_jax.inference.config import BELIEF, DISTILLED, InferenceConfig, InferenceParams
from gongzhu_jax.inference.registry import (
    PRIORS,
    PROPOSALS,
    ROLLOUTS,
    RULES,
    LogWeights,
    PlayerTypes,
    most_tricks,
)
from gongzhu_jax.inference.scenarios import Scenarios, draw_scenarios, resample
from gongzhu_jax.network.policy_value import Network
from gongzhu_jax.search.mcts import (
    PlayOnFn,
    SearchResult,
    best_card,
    network_policy_value,
    search,
)
from gongzhu_jax.search.racing import mean_of_searched, race

T = TypeVar("T")


class Deals(struct.PyTreeNode):
    """What a search needs of scenarios, [B, N]."""

    holder: jax.Array  # [B, N, 52] int8
    types: PlayerTypes | None = None  # [B, N], for rollouts
    noise: jax.Array | None = None  # [B, N, tricks, 52], for rollouts


class Decision(struct.PyTreeNode):
    """What was thought, for the move and for whoever asks why."""

    card: jax.Array  # [B] int8
    # [B, 52] weighted average in points, with its share of the prior; -inf for illegal cards, and
    # where forced
    q: jax.Array
    scenario_q: jax.Array  # [B, N, 52]
    weight: jax.Array  # [B, N] normalised
    scenarios: Scenarios  # [B]
    demanded: jax.Array  # [] int32, evaluations that scenarios, budgets and slices ask for
    evaluated: jax.Array  # [] int32, evaluations made


def decide(
    params: InferenceParams,
    keys: jax.Array,
    views: PublicView,
    network: Network,
    config: InferenceConfig,
) -> Decision:
    """Decides for every view, [B], each with its own key and independently of the others."""
    assert_views(views)
    chex.assert_shape(keys, views.stage.shape)
    split = jax.vmap(jax.random.split)(keys)
    at_once = max(1, profile().scenarios // config.scenarios.drawn)
    log_odds = PROPOSALS[BELIEF].log_odds(params, views) if config.uses_belief else None

    drawn_by = log_odds if config.scenarios.proposal == BELIEF else None
    scaled = jax.tree.map(lambda leaf: params.proposal_power * leaf, drawn_by)
    scenarios = jax.lax.map(
        lambda item: draw_scenarios(*item[:2], config.scenarios, item[2]),
        (split[:, 0], views, scaled),
        batch_size=min(at_once, len(keys)),
    )
    return decide_in(params, split[:, 1], views, scenarios, network, config, log_odds)


def decide_in(
    params: InferenceParams,
    keys: jax.Array,
    views: PublicView,
    scenarios: Scenarios,
    network: Network,
    config: InferenceConfig,
    log_odds: jax.Array | None = None,
) -> Decision:
    """Decides in given scenarios; `log_odds`, [B, 52, 3], are the belief's if it is asked."""
    legal = jax.vmap(legal_mask)(views)
    lowest = jax.vmap(lowest_equal)(views) if config.search.merge_equal else None
    distinct = legal if lowest is None else legal & (lowest == jnp.arange(NUM_CARDS)[None])
    has_choice = jnp.sum(distinct, axis=-1) > 1
    active = scenarios.valid & has_choice[:, None]
    rule = RULES[config.weights.rule](params, views, scenarios, active, network, config)
    types = rule.types
    weight = normalise(scenarios.log_weight + _pool(params, scenarios, rule, config, log_odds))
    if config.scenarios.drawn > config.scenarios.draws:
        keys, own_keys = jnp.moveaxis(jax.vmap(jax.random.split)(keys), 1, 0)
        index, weight = jax.vmap(resample, (0, 0, None))(own_keys, weight, config.scenarios.draws)
        scenarios, types = _take((scenarios, types), index)
        scenarios = scenarios.replace(valid=weight > 0)
    if config.races:  # those that count most come first
        order = jnp.argsort(-weight, axis=1)
        scenarios, types, weight = _take((scenarios, types, weight), order)
    active = scenarios.valid & has_choice[:, None]

    deals = Deals(scenarios.holder)
    if config.search.rollout != "none":
        deals = Deals(scenarios.holder, types, _rollout_noise(keys, deals, config))

    def search_in(deals: Deals, active: jax.Array, cards: jax.Array | None) -> SearchResult:
        """Searches deals [B, n]; `cards` [B, 52] are visited, None: the legal ones."""
        states = jax.vmap(jax.vmap(with_deal, (None, 0)))(views, deals.holder)
        return search(
            params.network,
            keys[0],  # UCB1 draws nothing at random; the Gumbel policy draws for the whole batch
            jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), states),
            network_policy_value(network),
            config.search,
            active=active.reshape(-1),
            cards=None if cards is None else jnp.repeat(cards, active.shape[1], axis=0),
            exploration=params.exploration,
            play_on=_rollout(params, deals, config),
        )

    choices = distinct & has_choice[:, None]
    if config.races:
        result = race(search_in, deals, weight, active, choices, config.racing)
        scenario_q, open_to = result.scenario_q, result.contenders | ~has_choice[:, None]
        q = mean_of_searched(scenario_q, weight, choices)
    else:
        cards = None if lowest is None else choices
        result, open_to = search_in(deals, active, cards), distinct
        scenario_q = result.q.reshape(*scenarios.valid.shape, -1)
        q = weighted_mean(scenario_q, weight, choices)
    if lowest is not None:  # what was found for a card goes for all that are equal to it
        q, open_to = (jnp.take_along_axis(of, lowest, axis=1) for of in (q, open_to))
        scenario_q = jnp.take_along_axis(scenario_q, lowest[:, None], axis=2)
        q = jnp.where(legal, q, -jnp.inf)
        scenario_q = jnp.where(legal[:, None], scenario_q, -jnp.inf)
    if config.prior.share > 0:
        q = with_prior(q, PRIORS[DISTILLED](params, views), config.prior.share)
    return Decision(
        card=jax.vmap(best_card)(keys, jnp.where(open_to, q, -jnp.inf), legal & open_to),
        q=q,
        scenario_q=scenario_q,
        weight=weight,
        scenarios=scenarios,
        demanded=result.demanded + rule.demanded,
        evaluated=result.evaluated + rule.evaluated,
    )


def _rollout_noise(keys: jax.Array, deals: Deals, config: InferenceConfig) -> jax.Array:
    """Random numbers for the rollouts of all scenarios, [B, N, tricks, 52]. Those of the endgame
    are drawn apart, so that it does not change what is drawn before."""
    draws = deals.holder.shape[1]
    always = most_tricks(ROLLOUTS[config.search.rollout].last_tricks)
    parts = (always, most_tricks(config.search.endgame) - 1)

    def draw(key: jax.Array) -> jax.Array:
        drawn = [
            jax.random.gumbel(jax.random.fold_in(key, number), (draws, tricks, NUM_CARDS))
            for number, tricks in enumerate(parts, start=1)
        ]
        return jnp.concatenate(drawn, axis=1)

    return jax.vmap(draw)(keys)


def _rollout(params: InferenceParams, deals: Deals, config: InferenceConfig) -> PlayOnFn | None:
    """How play goes on in roots [B x N] before a successor is evaluated."""
    if config.search.rollout == "none":
        return None
    model = params.opponent_model
    if model is None or deals.types is None or deals.noise is None:
        raise ConfigError("rollouts need the opponent model")
    types, noise = (leaf.reshape(-1, *leaf.shape[2:]) for leaf in (deals.types, deals.noise))
    rollout = ROLLOUTS[config.search.rollout]
    last_tricks = max(rollout.last_tricks, config.search.endgame)
    return lambda states, row: rollout.finish(
        model.params, states, types[row], noise[row], model.config, last_tricks
    )


def _take(tree: T, index: jax.Array) -> T:
    """The scenarios [B, n] of every decision, of a tree whose leaves begin with [B, N]."""
    return jax.vmap(lambda of_one, i: jax.tree.map(lambda leaf: leaf[i], of_one))(tree, index)


def _pool(
    params: InferenceParams,
    scenarios: Scenarios,
    rule: LogWeights,
    config: InferenceConfig,
    log_odds: jax.Array | None,
) -> jax.Array:
    """The log of belief^belief_power x rule^rule_power, [B, N]."""
    chex.assert_equal_shape([rule.log_weight, scenarios.valid])
    by_rule = params.rule_power * rule.log_weight
    if not config.weights.belief_power > 0:
        return by_rule
    by_belief = jax.vmap(PROPOSALS[BELIEF].log_density)(log_odds, scenarios.opponent)
    return params.belief_power * by_belief + by_rule


def normalise(log_weight: jax.Array) -> jax.Array:
    """Weights [..., N] that sum to 1 from unnormalised logs; all 0 if no scenario is valid."""
    return jnp.where(
        jnp.any(log_weight > -jnp.inf, axis=-1, keepdims=True),
        jax.nn.softmax(log_weight, axis=-1),
        0.0,
    )


def weighted_mean(scenario_q: jax.Array, weight: jax.Array, legal: jax.Array) -> jax.Array:
    """The average of Q over scenarios, [B, 52], from Q [B, N, 52] and weights [B, N]; -inf where a
    card is not legal. With a budget below the number of legal cards some are searched in a part of
    the scenarios, which is then what their average is over, or in none, and then it is -inf."""
    searched = scenario_q > -jnp.inf
    known = jnp.where(searched, scenario_q, 0.0)
    mean = jnp.einsum("bnc,bn->bc", known, weight, precision=jax.lax.Precision.HIGHEST)
    everywhere = jnp.all(searched | (weight == 0)[..., None], axis=1)
    partial = mean_of_searched(scenario_q, weight, legal)
    return jnp.where(legal, jnp.where(everywhere, mean, partial), -jnp.inf)


def with_prior(q: jax.Array, prior: jax.Array, share: float) -> jax.Array:
    """Q [B, 52], -inf where a card has none, with that share of the prior's differences between the
    cards; the mean over the cards stays."""
    chex.assert_equal_shape([q, prior])
    known = q > -jnp.inf
    difference = jnp.where(known, prior - q, 0.0)
    count = jnp.sum(known, axis=1, dtype=jnp.float32)
    mean = jnp.sum(difference, axis=1) / jnp.maximum(count, 1.0)
    return jnp.where(known, q + share * (difference - mean[:, None]), -jnp.inf)


def effective_sample_size(weight: jax.Array) -> jax.Array:
    """1 / sum of squares of normalised weights [..., N]: how many equal ones they are worth."""
    return 1 / jnp.maximum(jnp.sum(jnp.square(weight), axis=-1), 1e-12)
