"""Correction factors of a whole position, as the paper's tables and figures show them."""

import jax
import jax.numpy as jnp

from gongzhu_jax.network.policy_value import POLICY_SHARPNESS


def correction_factors(logits: jax.Array, legal: jax.Array, beta: float) -> jax.Array:
    """exp(-beta regret) of each legal card from policy logits, [..., cards]; 0 where not legal."""
    q = logits / POLICY_SHARPNESS
    best = jnp.max(jnp.where(legal, q, -jnp.inf), axis=-1, keepdims=True)
    return jnp.where(legal, jnp.exp(-beta * jnp.where(legal, best - q, 0.0)), 0.0)
