"""One visit of every legal card: the paper's "raw network".

The successors of all roots are compacted into full network batches, with no tree at all.
"""

from typing import Any

import jax
import jax.numpy as jnp

from gongzhu_jax import ragged
from gongzhu_jax.game import env
from gongzhu_jax.search.config import SearchConfig
from gongzhu_jax.search.perspective import discount, total_value
from gongzhu_jax.search.tree import NUM_ACTIONS, PolicyValueFn, play_action


def one_ply(
    params: Any,
    states: env.GameState,
    budgets: jax.Array,
    policy_value: PolicyValueFn,
    config: SearchConfig,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Q by action [B, A] and visits [B, A] of the first `budgets` [B] actions of each root, and
    the number of states given to the network."""
    shape = (budgets.size, NUM_ACTIONS)

    def evaluate(q, row, action, live):
        roots = jax.tree.map(lambda leaf: leaf[row], states)
        successors = jax.vmap(play_action)(roots, action)
        _, value = policy_value(params, successors)
        value = jax.vmap(total_value, (0, 0, None))(successors, value, config.lone_transformer)
        value *= jax.vmap(discount)(roots, successors)
        return q.at[jnp.where(live, row, budgets.size), action].set(value, mode="drop")

    q, evaluated = ragged.loop(budgets, config.chunk, evaluate, jnp.zeros(shape))
    visits = jnp.arange(NUM_ACTIONS)[None, :] < budgets[:, None]
    return q, visits.astype(jnp.int32), evaluated
