"""The search that players and self-play call: any number of roots, each with its own budget.

Roots are sorted by budget and searched in chunks, so that a root with few legal cards does not
pay for one with many.
"""

from collections.abc import Callable
from typing import Any

import chex
import jax
import jax.numpy as jnp
from flax import struct

from gongzhu_jax import ragged
from gongzhu_jax.device_profile import profile
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import by_card, nth_card
from gongzhu_jax.network.features import encode
from gongzhu_jax.network.policy_value import Network
from gongzhu_jax.search.config import SearchConfig
from gongzhu_jax.search.model import NUM_ACTIONS, PolicyValueFn, discount, total_value
from gongzhu_jax.search.tree import grow, gumbel

PlayOnFn = Callable[[env.GameState, jax.Array], env.GameState]
"""(states [S], the roots they are of, int32[S]) -> states [S], some plays later"""


class SearchResult(struct.PyTreeNode):
    """What the search says of B roots."""

    q: jax.Array  # [B, 52] float32, final margin in points for the mover's team; -inf unvisited
    visits: jax.Array  # [B, 52] int32
    demanded: jax.Array  # [] int32, evaluations that the budgets ask for
    evaluated: jax.Array  # [] int32, states that went through the network


def network_policy_value(network: Network) -> PolicyValueFn:
    """A network as the search wants it: a function of states."""
    return lambda params, states: network.apply(params, jax.vmap(encode)(states))


def budgets_of(states: env.GameState, config: SearchConfig) -> jax.Array:
    """Simulations for each root, int32[B]: none where there is nothing to choose."""
    legal = jnp.sum(jax.vmap(env.legal_mask)(states), axis=-1)
    # The Gumbel policy halves its candidates on a schedule made for one number of simulations.
    counted = jnp.full_like(legal, NUM_ACTIONS) if config.method == "gumbel" else legal
    searched = legal > (0 if config.search_forced else 1)
    return jnp.where(searched, config.base + config.per_legal * counted, 0).astype(jnp.int32)


def search(
    params: Any,
    key: jax.Array,
    states: env.GameState,
    policy_value: PolicyValueFn,
    config: SearchConfig,
    *,
    active: jax.Array | None = None,
    cards: jax.Array | None = None,
    exploration: jax.Array | None = None,
    play_on: PlayOnFn | None = None,
) -> SearchResult:
    """Searches roots, [B], with the budget of `config` each.

    Args:
      active: bool[B]; the other roots get no budget.
      cards: bool[B, 52]; only these legal cards are visited, where each is visited once.
      exploration: in place of the constant in `config`, as a traced number, so that a sweep
        compiles once.
      play_on: how play goes on before a successor is evaluated, where each card is visited once.
    """
    env.assert_states(states)
    budgets = budgets_of(states, config)
    legal = jax.vmap(env.legal_mask)(states)
    if cards is not None:
        chex.assert_equal_shape([cards, legal])
        chex.assert_type(cards, bool)
        if not config.one_visit:
            raise ConfigError("only a search of one visit per legal card can leave cards out")
        legal &= cards
        budgets = jnp.minimum(budgets, jnp.sum(legal, axis=-1))
    if active is not None:
        chex.assert_equal_shape([active, states.stage])
        chex.assert_type(active, bool)
        budgets = jnp.where(active, budgets, 0)
    if config.one_visit:
        q, visits, evaluated = _visit_once(
            params, states, legal, budgets, policy_value, config, play_on
        )
    elif play_on is not None:
        raise ConfigError("only a search of one visit per legal card can have rollouts")
    else:
        c = jnp.float32(config.exploration) if exploration is None else exploration
        q, visits, evaluated = _in_chunks(params, key, states, budgets, policy_value, config, c)
    spread = jax.vmap(by_card, (0, 0, None))
    return SearchResult(
        q=spread(legal, jnp.where(visits > 0, q, -jnp.inf), -jnp.inf),
        visits=spread(legal, visits, 0),
        demanded=jnp.sum(budgets),
        evaluated=evaluated,
    )


def best_card(key: jax.Array, q: jax.Array, legal: jax.Array) -> jax.Array:
    """The legal card with the best Q, [52], int8. Ties at random; so is the choice where nothing
    was searched, which is where only one card is legal."""
    best = legal & (q == jnp.max(q))
    return jnp.argmax(jnp.where(best, jax.random.uniform(key, q.shape), -1.0)).astype(jnp.int8)


def _in_chunks(params, key, states, budgets, policy_value, config, exploration):
    count = budgets.shape[0]
    size = min(config.chunk or profile().states, count)
    # Padding goes to the front, where the roots are that need nothing.
    order = jnp.pad(jnp.argsort(budgets), (-count % size, 0), constant_values=count)

    def search_chunk(item):
        key, rows = item
        chunk_budgets = jnp.where(rows < count, budgets[jnp.minimum(rows, count - 1)], 0)
        roots = jax.tree.map(lambda leaf: leaf[jnp.minimum(rows, count - 1)], states)
        if config.method == "gumbel":
            return gumbel(params, key, roots, chunk_budgets, policy_value, config)
        return grow(params, key, roots, chunk_budgets, policy_value, config, exploration)

    rows = order.reshape(-1, size)
    q, visits, evaluated = jax.lax.map(search_chunk, (jax.random.split(key, len(rows)), rows))

    def in_order(leaf):
        leaf = leaf.reshape(-1, NUM_ACTIONS)
        return jnp.zeros((count, NUM_ACTIONS), leaf.dtype).at[order].set(leaf, mode="drop")

    return in_order(q), in_order(visits), jnp.sum(evaluated)


def _visit_once(
    params: Any,
    states: env.GameState,
    cards: jax.Array,
    budgets: jax.Array,
    policy_value: PolicyValueFn,
    config: SearchConfig,
    play_on: PlayOnFn | None,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """One visit of each of the legal cards [B, 52], the paper's "raw network", without a tree: the
    successors of all roots are compacted into full network batches.

    Returns Q and visits, [B, A] each, of the first `budgets` [B] of the cards of each root, and
    the number of states given to the network.
    """
    shape = (budgets.size, NUM_ACTIONS)
    chunk = config.chunk or profile().states

    def value_at(states: env.GameState, roots: env.GameState) -> jax.Array:
        """The final margin expected at states [S], for the teams to move at the roots [S]."""
        _, value = policy_value(params, states)
        value = jax.vmap(total_value, (0, 0, None))(states, value, config.lone_transformer)
        return value * jax.vmap(discount)(roots, states)

    def evaluate(q, row, action, live):
        roots = jax.tree.map(lambda leaf: leaf[row], states)
        successors = jax.vmap(env.step)(roots, jax.vmap(nth_card)(cards[row], action))
        if play_on is None:
            value = value_at(successors, roots)
        else:
            value = value_at(play_on(successors, row), roots)
            if (share := config.rollout_share) < 1:
                value = share * value + (1 - share) * value_at(successors, roots)
        return q.at[jnp.where(live, row, budgets.size), action].set(value, mode="drop")

    q, evaluated = ragged.loop(budgets, chunk, evaluate, jnp.zeros(shape))
    visits = jnp.arange(NUM_ACTIONS)[None, :] < budgets[:, None]
    return q, visits.astype(jnp.int32), evaluated
