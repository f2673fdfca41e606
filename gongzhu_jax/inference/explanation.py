"""What a decision rests on: spread of Q over scenarios, and who is believed to hold what."""

import jax
import jax.numpy as jnp

from gongzhu_jax.game.cards import NUM_SEATS, SEATS
from gongzhu_jax.inference.decision import Decision
from gongzhu_jax.search.racing import shares


def q_standard_error(decision: Decision) -> jax.Array:
    """Standard error of the weighted mean of Q over scenarios, [B, 52]; 0 where not legal. The
    share of a prior in Q is the same in all scenarios, so it has no error."""
    searched = (decision.scenario_q > -jnp.inf) & (decision.q > -jnp.inf)[:, None]
    share = shares(decision.weight[..., None], searched)
    q = jnp.where(searched, decision.scenario_q, 0.0)
    mean = jnp.sum(share * q, axis=1, keepdims=True)
    error = jnp.where(searched, q - mean, 0.0)
    return jnp.sqrt(jnp.sum(jnp.square(share * error), axis=1))


def believed_holders(holder: jax.Array, weight: jax.Array) -> jax.Array:
    """Probability that each seat holds each card, [..., 52, 4], from scenarios [..., N, 52] and
    their normalised weights [..., N]. Played cards have no holder."""
    seats = SEATS.reshape((1,) * holder.ndim + (NUM_SEATS,))
    held = holder[..., None] == seats
    return jnp.sum(jnp.where(held, weight[..., None, None], 0.0), axis=-3)
