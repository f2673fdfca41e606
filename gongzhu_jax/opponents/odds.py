"""Constrained deals drawn by per-card odds: P(deal) is proportional to the product of the odds of
each unseen card and its holder, over exactly the deals that agree with the constraints.

Cards are dealt one after the other. `rest[k, a, b]` is the sum, over all ways to deal cards k to 51
when opponents 0 and 1 still get a and b of them (opponent 2 the others), of the product of their
weights. The sum over all deals, draws and their exact probabilities follow from that table.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from gongzhu_jax.game.cards import NOBODY, NUM_CARDS, NUM_RANKS
from gongzhu_jax.inference.constraints import NUM_OPPONENTS, Constraints
from gongzhu_jax.inference.sampling import SIZES


class OddsTable(struct.PyTreeNode):
    """The distribution over all deals that agree with some constraints."""

    weight: jax.Array  # [52, 3] odds of each card for each opponent; 0 where it may not hold it
    unseen: jax.Array  # [52] bool
    capacities: jax.Array  # [3] int32
    rest: jax.Array  # [53, 14, 14], each scaled so that its largest entry is 1
    log_total: jax.Array  # [] log of the sum over all deals; -inf if there is none


def possible(known: Constraints) -> jax.Array:
    """Which opponents may hold each unseen card, bool[52, 3]."""
    by_card = jnp.repeat(known.allowed.T, NUM_RANKS, axis=0)
    return by_card & known.unseen[:, None]


def weigh(log_odds: jax.Array, known: Constraints) -> OddsTable:
    """The table for `log_odds`, [52, 3]; entries of impossible holders are not read."""
    may = possible(known)
    log_odds = jnp.where(may, log_odds, 0.0)
    largest = jnp.max(jnp.where(may, log_odds, -jnp.inf), axis=1)
    largest = jax.lax.stop_gradient(jnp.where(known.unseen & may.any(axis=1), largest, 0.0))
    weight = jnp.where(may, jnp.exp(log_odds - largest[:, None]), 0.0)
    end = jnp.zeros((SIZES, SIZES)).at[0, 0].set(1.0)

    def deal_one(carry, card):
        later, log_scale = carry
        weight, unseen = card
        to_first = jnp.pad(later, ((1, 0), (0, 0)))[:-1]
        to_second = jnp.pad(later, ((0, 0), (1, 0)))[:, :-1]
        now = weight[0] * to_first + weight[1] * to_second + weight[2] * later
        top = jax.lax.stop_gradient(jnp.max(now))
        top = jnp.where(top > 0, top, 1.0)
        now = jnp.where(unseen, now / top, later)
        log_scale = log_scale + jnp.where(unseen, jnp.log(top), 0.0)
        return (now, log_scale), later

    (first, log_scale), later = jax.lax.scan(
        deal_one, (end, jnp.float32(0)), (weight, known.unseen), reverse=True
    )
    capacities = known.capacities.astype(jnp.int32)
    room = jnp.clip(capacities, 0, NUM_RANKS)
    # With the room of opponents 0 and 1 filled exactly, that of opponent 2 is as well.
    fits = jnp.all(capacities >= 0) & (jnp.sum(capacities) == jnp.sum(known.unseen))
    total = jnp.where(fits, first[room[0], room[1]], 0.0)
    log_total = jnp.where(
        total > 0,
        jnp.log(jnp.where(total > 0, total, 1.0)) + log_scale + jnp.sum(largest),
        -jnp.inf,
    )
    rest = jnp.concatenate([first[None], later])
    return OddsTable(weight, known.unseen, capacities, rest, log_total)


def draw(key: jax.Array, table: OddsTable, n: int) -> tuple[jax.Array, jax.Array]:
    """`n` independent deals by the odds: the opponent, int8[n, 52], who gets each unseen card, and
    the log probability of each deal, [n].

    NOBODY for the other cards; for all cards, with probability 0, if there is no deal at all.
    """
    uniforms = jax.random.uniform(key, (NUM_CARDS, n))

    def deal_one(carry, card):
        a, b, log_probability = carry
        weight, unseen, later, uniform = card
        shares = jnp.stack(
            [
                weight[0] * jnp.where(a > 0, later[jnp.maximum(a - 1, 0), b], 0.0),
                weight[1] * jnp.where(b > 0, later[a, jnp.maximum(b - 1, 0)], 0.0),
                weight[2] * later[a, b],
            ]
        )  # [3, n]
        ends = jnp.cumsum(shares, axis=0)
        # Strictly below the end, so that a share of 0 is never drawn, and never past the last.
        drawn = jnp.sum((uniform * ends[-1])[None] >= ends, axis=0)
        last = NUM_OPPONENTS - 1 - jnp.argmax(shares[::-1] > 0, axis=0)
        opponent = jnp.minimum(drawn, last)
        share = jnp.take_along_axis(shares, opponent[None], axis=0)[0]
        gain = jnp.log(jnp.maximum(share, 1e-38)) - jnp.log(jnp.maximum(ends[-1], 1e-38))
        a = a - (unseen & (opponent == 0)).astype(jnp.int32)
        b = b - (unseen & (opponent == 1)).astype(jnp.int32)
        log_probability = log_probability + jnp.where(unseen, gain, 0.0)
        return (a, b, log_probability), opponent.astype(jnp.int8)

    room = jnp.clip(table.capacities, 0, NUM_RANKS)
    start = (jnp.full(n, room[0]), jnp.full(n, room[1]), jnp.zeros(n))
    cards = (table.weight, table.unseen, table.rest[1:], uniforms)
    (_, _, log_probability), opponents = jax.lax.scan(deal_one, start, cards)
    feasible = table.log_total > -jnp.inf
    opponents = jnp.where((table.unseen & feasible)[None], opponents.T, jnp.int8(NOBODY))
    return opponents, jnp.where(feasible, log_probability, -jnp.inf)


def log_weight(log_odds: jax.Array, opponent: jax.Array) -> jax.Array:
    """Sum of the log odds of a deal, opponents int8[..., 52] with NOBODY where nothing is dealt."""
    numbers = np.arange(NUM_OPPONENTS, dtype=np.int8).reshape((1,) * opponent.ndim + (-1,))
    gets = opponent[..., None] == numbers
    return jnp.sum(jnp.where(gets, jnp.broadcast_to(log_odds, gets.shape), 0.0), axis=(-2, -1))


def marginals(log_odds: jax.Array, known: Constraints) -> jax.Array:
    """Exact probability that each opponent gets each unseen card, [52, 3]; 0 for other cards."""

    def total(log_odds: Any) -> jax.Array:
        return weigh(log_odds, known).log_total

    return jax.grad(total)(log_odds)
