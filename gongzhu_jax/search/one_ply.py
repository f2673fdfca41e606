"""One visit of every legal card: the paper's "raw network".

The successors of all roots are compacted into full network batches, with no tree at all.
"""

from typing import Any

import jax
import jax.numpy as jnp

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
    batch = budgets.shape[0]
    wanted = (jnp.arange(NUM_ACTIONS)[None, :] < budgets[:, None]).reshape(-1)
    # Wanted (root, action) pairs first; the rest of the list is never reached.
    order = jnp.argsort(~wanted, stable=True)
    order = jnp.pad(order, (0, -order.size % config.chunk), constant_values=order.size)
    chunks = -(-jnp.sum(wanted) // config.chunk)

    def evaluate(number, q):
        pairs = jax.lax.dynamic_slice_in_dim(order, number * config.chunk, config.chunk)
        roots = jax.tree.map(
            lambda leaf: leaf[jnp.minimum(pairs // NUM_ACTIONS, batch - 1)], states
        )
        successors = jax.vmap(play_action)(roots, pairs % NUM_ACTIONS)
        _, value = policy_value(params, successors)
        value = jax.vmap(total_value, (0, 0, None))(successors, value, config.lone_transformer)
        return q.at[pairs].set(jax.vmap(discount)(roots, successors) * value, mode="drop")

    q = jax.lax.fori_loop(0, chunks, evaluate, jnp.zeros(wanted.shape))
    shape = (batch, NUM_ACTIONS)
    return q.reshape(shape), wanted.astype(jnp.int32).reshape(shape), chunks * config.chunk
