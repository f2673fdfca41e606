"""Batched tree search over perfect-information states, on mctx (supplement, MCTS).

Axes: B roots, A = 13 actions of `search.model`.
"""

from typing import Any

import jax
import jax.numpy as jnp
import mctx
import numpy as np

from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_CARDS, nth_card
from gongzhu_jax.runtime import usual_promotion
from gongzhu_jax.search.config import SearchConfig
from gongzhu_jax.search.model import NUM_ACTIONS, PolicyValueFn, discount, play_action, total_value

Tree = Any
"""mctx.Tree, one tree or a batch; its own annotation admits scalars in place of arrays."""


def action_logits(state: env.GameState, logits: jax.Array | None = None) -> jax.Array:
    """Logits [52] of the legal cards by action, [A]; -inf where there is no such card."""
    legal = env.legal_mask(state)
    exists = np.arange(NUM_ACTIONS) < jnp.sum(legal)
    if logits is None:
        return jnp.where(exists, 0.0, -jnp.inf)
    cards = jax.vmap(nth_card, (None, 0))(legal, jnp.arange(NUM_ACTIONS))
    return jnp.where(exists, logits[cards], -jnp.inf)


def make_recurrent_fn(policy_value: PolicyValueFn, config: SearchConfig) -> Any:
    """The mctx model of the game: plays an action and evaluates the successor."""

    def recurrent_fn(params, rng_key, action, states):
        del rng_key
        successors = jax.vmap(play_action)(states, action)
        logits, value = policy_value(params, successors)
        # UCB1 asks of the logits only which cards are legal; Gumbel uses the policy.
        prior = logits if config.method == "gumbel" else None
        output = mctx.RecurrentFnOutput(
            reward=jnp.zeros_like(value),
            discount=jax.vmap(discount)(states, successors),
            prior_logits=jax.vmap(action_logits, (0, None if prior is None else 0))(
                successors, prior
            ),
            value=jax.vmap(total_value, (0, 0, None))(successors, value, config.lone_transformer),
        )
        return output, successors

    return recurrent_fn


def ucb1(tree: Tree, node: jax.Array, exploration: jax.Array, factor: float) -> jax.Array:
    """The action with the largest v + c sqrt(factor ln N / n); unvisited ones first, in order."""
    visits = tree.children_visits[node]
    q = tree.qvalues(node)
    # The root is not evaluated, so its own visit does not count; other nodes' evaluations do.
    total = tree.node_visits[node] - (node == tree.ROOT_INDEX).astype(jnp.int32)
    bonus = jnp.sqrt(factor * jnp.log(total) / jnp.maximum(visits, 1).astype(jnp.float32))
    score = jnp.where(visits == 0, jnp.inf, q + exploration * bonus)
    legal = tree.children_prior_logits[node] > -jnp.inf
    # The end of the game has no legal card; revisiting it by any action gives its value again.
    return jnp.argmax(jnp.where(legal, score, -jnp.inf)).astype(jnp.int32)


def grow(
    params: Any,
    key: jax.Array,
    states: env.GameState,
    budgets: jax.Array,
    policy_value: PolicyValueFn,
    config: SearchConfig,
    exploration: jax.Array,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Searches B roots, each with its own budget, [B]. Runs as long as the largest budget asks.

    Returns the root's Q by action, [B, A] (undefined where unvisited), visits [B, A], and the
    number of states evaluated.
    """

    def select(tree: Any, node: Any) -> jax.Array:
        return ucb1(tree, node, exploration, config.ucb_factor)

    prior = jax.vmap(action_logits, (0, None))(states, None)
    root = mctx.RootFnOutput(prior_logits=prior, value=jnp.zeros(budgets.shape), embedding=states)
    simulations = jnp.max(budgets)
    with usual_promotion():
        tree: Tree = mctx.search(
            params,
            key,
            root=root,
            recurrent_fn=make_recurrent_fn(policy_value, config),
            root_action_selection_fn=lambda _, tree, node: select(tree, node),
            interior_action_selection_fn=lambda _, tree, node, depth: select(tree, node),
            num_simulations=config.base + config.per_legal * NUM_ACTIONS,
            max_depth=_cards_left(states),
            invalid_actions=prior == -jnp.inf,
            loop_fn=_loop_with_budgets(budgets, simulations),
        )
        qvalues = tree.summary().qvalues
    return qvalues, tree.children_visits[:, tree.ROOT_INDEX], simulations * budgets.size


def _cards_left(states: env.GameState) -> Any:
    """Depth at which every root's game is over. Without a limit, each new visit to the end of a
    game would hang one more node below it and walk all of them."""
    return NUM_CARDS - jnp.min(states.stage)


def _loop_with_budgets(budgets: jax.Array, simulations: jax.Array) -> Any:
    """A loop for mctx that stops with the largest budget and gives every root the statistics it
    had when its own budget was used up."""

    def loop(lower, upper, body, start):
        del upper  # the size of the tree, for the largest budget that there can be

        def simulate(number, carry):
            state, frozen = carry
            state = body(number, state)
            counts = (number < budgets)[:, None]
            frozen = jax.tree.map(
                lambda new, old: jnp.where(counts, new, old), _root_statistics(state[1]), frozen
            )
            return state, frozen

        frozen = _root_statistics(start[1])
        (key, tree), (visits, values) = jax.lax.fori_loop(
            lower, simulations, simulate, (start, frozen)
        )
        root = (slice(None), tree.ROOT_INDEX)
        tree = tree.replace(
            children_visits=tree.children_visits.at[root].set(visits),
            children_values=tree.children_values.at[root].set(values),
        )
        return key, tree

    return loop


def _root_statistics(tree: Tree) -> tuple[jax.Array, jax.Array]:
    return tree.children_visits[:, tree.ROOT_INDEX], tree.children_values[:, tree.ROOT_INDEX]


def gumbel(
    params: Any,
    key: jax.Array,
    states: env.GameState,
    budgets: jax.Array,
    policy_value: PolicyValueFn,
    config: SearchConfig,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """mctx's Gumbel policy, arguments and results as those of `grow`; every budget is either the
    same number or 0. The root is evaluated too."""
    simulations = config.base + config.per_legal * NUM_ACTIONS

    def run():
        logits, value = policy_value(params, states)
        prior = jax.vmap(action_logits)(states, logits)
        root = mctx.RootFnOutput(
            prior_logits=prior,
            value=jax.vmap(total_value, (0, 0, None))(states, value, config.lone_transformer),
            embedding=states,
        )
        with usual_promotion():
            output = mctx.gumbel_muzero_policy(
                params,
                key,
                root=root,
                recurrent_fn=make_recurrent_fn(policy_value, config),
                num_simulations=simulations,
                max_depth=_cards_left(states),
                invalid_actions=prior == -jnp.inf,
            )
            tree: Tree = output.search_tree
            qvalues = tree.summary().qvalues
        visits = jnp.where((budgets > 0)[:, None], tree.children_visits[:, tree.ROOT_INDEX], 0)
        return qvalues, visits, jnp.int32((simulations + 1) * budgets.size)

    def nothing():
        shape = (budgets.size, NUM_ACTIONS)
        return jnp.zeros(shape), jnp.zeros(shape, jnp.int32), jnp.int32(0)

    return jax.lax.cond(jnp.any(budgets > 0), run, nothing)
