"""Distillation: a network that sees one view learns what players that search think of each card."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from gongzhu_jax.game import env
from gongzhu_jax.game.public_view import view
from gongzhu_jax.inference.constraints import constraints, opponents
from gongzhu_jax.mixture_training.mixture import MixtureGames
from gongzhu_jax.opponents.distilled_policy import DistilledConfig, apply_games
from gongzhu_jax.opponents.odds import possible

_DELTA = 20.0
"""Points: errors of Q count by their squares up to about this, and linearly beyond."""


class DistillationFigures(struct.PyTreeNode):
    """What is measured at stages [G, K]; 0 where there was no decision with a Q."""

    loss: jax.Array  # the sum of the three errors
    q_error: jax.Array  # squared error of Q relative to its mean over legal cards, in points
    play_nll: jax.Array  # minus log probability of the card played
    card_nll: jax.Array  # minus log probability of the true holder, mean over unseen cards
    regret: jax.Array  # points by the teacher's Q that the network's choice gives away
    decided: jax.Array  # bool, whether there was such a decision


def distillation_figures(
    params: Any, games: MixtureGames, stages: jax.Array, config: DistilledConfig
) -> DistillationFigures:
    """The figures of games [G] at stages [G, K]."""
    if games.q is None:
        raise ValueError("distillation needs games with the Q of their decisions")
    states = jax.vmap(jax.vmap(env.rewind, (None, 0)))(games.states, stages)
    views = jax.vmap(jax.vmap(lambda state: view(state, env.player_to_move(state))))(states)
    whole = jax.vmap(view, (0, None))(games.states, 0)
    out = apply_games(params, whole, views, config)

    index = stages.astype(jnp.int32)
    q = jnp.take_along_axis(games.q, index[..., None], axis=1).astype(jnp.float32)
    legal = q > -jnp.inf
    decided = jnp.any(legal, axis=-1)
    count = jnp.maximum(jnp.sum(legal, axis=-1), 1).astype(jnp.float32)

    def mean(x: jax.Array) -> jax.Array:
        return jnp.sum(jnp.where(legal, x, 0.0), axis=-1) / count

    q = jnp.where(legal, q, 0.0)
    error = out.q - mean(out.q)[..., None] - (q - mean(q)[..., None])
    robust = _DELTA**2 * (jnp.sqrt(1 + jnp.square(error / _DELTA)) - 1)

    random = jnp.take_along_axis(games.random, index, axis=1)
    card = jnp.take_along_axis(games.states.plays, index, axis=1).astype(jnp.int32)
    log_policy = jax.nn.log_softmax(jnp.where(legal, out.logits, -1e9))
    play_nll = -jnp.take_along_axis(log_policy, card[..., None], axis=-1)[..., 0]
    play_nll = jnp.where(decided & ~random, play_nll, 0.0)

    may_hold = jax.vmap(jax.vmap(lambda view: possible(constraints(view))))(views)
    holder = jax.vmap(jax.vmap(opponents))(views, states.holder).astype(jnp.int32)
    log_share = jax.nn.log_softmax(jnp.where(may_hold, out.log_odds, -1e9))
    unseen = holder >= 0
    true = jnp.take_along_axis(log_share, jnp.maximum(holder, 0)[..., None], axis=-1)[..., 0]
    cards = jnp.maximum(jnp.sum(unseen, axis=-1), 1).astype(jnp.float32)
    card_nll = -jnp.sum(jnp.where(unseen, true, 0.0), axis=-1) / cards

    best = jnp.max(jnp.where(legal, q, -jnp.inf), axis=-1)
    choice = jnp.argmax(jnp.where(legal, out.q, -jnp.inf), axis=-1)
    chosen = jnp.take_along_axis(q, choice[..., None], axis=-1)[..., 0]
    return DistillationFigures(
        loss=jnp.where(decided, mean(robust), 0.0) / _DELTA + play_nll + card_nll,
        q_error=jnp.where(decided, mean(jnp.square(error)), 0.0),
        play_nll=play_nll,
        card_nll=card_nll,
        regret=jnp.where(decided, best - chosen, 0.0),
        decided=decided,
    )
