"""Resampling: which of many weighed scenarios are searched, so that averages stay unbiased.

A scenario is kept with a probability in proportion to its weight, at most 1, and counts for more
the less likely it was kept (Fearnhead and Clifford, 2003): those of the largest weights are kept
for certain with the weights they have, the others all get the same one. No index is taken twice,
and among choices without bias this one changes the weights least, in squares.
"""

import jax
import jax.numpy as jnp
import numpy as np


def threshold(weight: jax.Array, count: int) -> jax.Array:
    """The number c for which min(weight / c, 1) sums to `count`, for weights [M] that sum to 1; 0
    if no more than `count` of them are positive."""
    falling = -jnp.sort(-weight)
    rest = jnp.cumsum(falling[::-1])[::-1]  # [k]: the sum of all but the k largest
    largest = np.arange(min(count, len(weight)))  # how many are kept for certain
    candidate = rest[: len(largest)] / (count - largest).astype(np.float32)
    certain = jnp.argmax(falling[: len(largest)] <= candidate * (1 + 1e-6))
    return jnp.where(jnp.sum(weight > 0) > count, candidate[certain], 0.0)


def resample(key: jax.Array, weight: jax.Array, count: int) -> tuple[jax.Array, jax.Array]:
    """`count` of the weights [M], which sum to 1: their indices [count] and new weights, which sum
    to 1; 0 where there are not so many."""
    least = threshold(weight, count)
    kept = jnp.where(weight > 0, jnp.minimum(weight / jnp.maximum(least, 1e-30), 1.0), 0.0)
    ends = jnp.cumsum(kept)
    ticks = jax.random.uniform(key) + np.arange(count, dtype=np.float32)
    # Rounding must not push the last tick past the end where all are kept.
    total = jnp.where(least > 0, jnp.float32(count), jnp.round(ends[-1]))
    place = jnp.searchsorted(ends * (total / jnp.maximum(ends[-1], 1e-30)), ticks, side="right")
    there = ticks < total
    place = jnp.where(there, jnp.minimum(place, len(weight) - 1), 0)
    new = jnp.where(there, jnp.maximum(weight[place], least), 0.0)
    return place, new / jnp.maximum(jnp.sum(new), 1e-30)
