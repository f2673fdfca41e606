"""What the network is to learn from a searched game. Axes: T = 52 stages of one game."""

import jax
import jax.numpy as jnp

from gongzhu_jax.network.policy_value import POLICY_SHARPNESS
from gongzhu_jax.search.model import team_sign


def policy_target(q: jax.Array, forced: jax.Array) -> jax.Array:
    """The policy to learn, float32[52], from the search's Q, [52] with -inf where unvisited, or the
    `forced` legal card, bool[52], where nothing was searched."""
    searched = jnp.any(q > -jnp.inf)
    soft = jax.nn.softmax(jnp.where(searched, POLICY_SHARPNESS * q, 0.0))
    return jnp.where(searched, soft, forced.astype(jnp.float32))


def value_targets(
    best: jax.Array,
    searched: jax.Array,
    loss: jax.Array,
    margin: jax.Array,
    mover: jax.Array,
    outcome: jax.Array,
    td_lambda: float,
    blunder: float,
) -> jax.Array:
    """Points still to come at each stage for the mover's team, float32[T].

    Args:
      best: max Q at each stage, the search's estimate of the final margin, [T].
      searched: whether there was a search at each stage, bool[T].
      loss: points by which the card played was worse than the best, [T].
      margin: margin so far for the mover's team, [T].
      mover: seat to move, [T].
      outcome: final margin of the team of seat 0.
      td_lambda: 0 takes the search's word (the paper), 1 what happened.
      blunder: what follows a card that lost more than this is not held against the position.
    """
    sign = team_sign(mover, jnp.zeros_like(mover))

    def back_up(later, stage):
        sign, best, searched, loss = stage
        mix = jnp.where(loss > blunder, 0.0, td_lambda)
        value = jnp.where(searched, (1 - mix) * sign * best + mix * later, later)
        return value, value

    stages = (sign, jnp.where(searched, best, 0.0), searched, loss)
    _, totals = jax.lax.scan(back_up, outcome.astype(jnp.float32), stages, reverse=True)
    return sign * totals - margin
