"""Exact uniform sampling of the hidden hands (the paper's US), without rejection.

How many cards of a suit each opponent gets is its split (a, b, c). A split of u cards can be dealt
in u! / (a! b! c!) ways, so sums over splits count deals. Suits are taken in two pairs, (S, H) and
(D, C): first how many cards of the first pair go to opponents 0 and 1, then the split of one suit
of each pair; the rest follows. With these numbers drawn in proportion to the deals behind them and
the cards of each suit shuffled, every deal that agrees with the constraints is equally likely.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from gongzhu_jax.game.cards import NOBODY, NUM_CARDS, NUM_RANKS, NUM_SUITS
from gongzhu_jax.game.public_view import PublicView
from gongzhu_jax.inference.constraints import NUM_OPPONENTS, Constraints, constraints, holders

SIZES = NUM_RANKS + 1
"""Numbers of cards, 0 to 13, of an opponent in a suit or in a pair of suits."""

_UNIFORM_BITS = 23
_NUM_PICKS = 6  # two for the numbers of the first pair, two for one suit of each pair


def _multinomials() -> np.ndarray:
    """The ways to deal u cards as a, b and the rest, by [u, a, b]; 0 where a + b > u."""
    factorial = np.cumprod([1, *range(1, SIZES)], dtype=np.int64)
    u, a, b = np.indices((SIZES,) * 3)
    c = u - a - b
    ways = factorial[u] // (factorial[a] * factorial[b] * factorial[np.maximum(c, 0)])
    return np.where(c >= 0, ways, 0)


_WAYS = _multinomials()
_A, _B = np.indices((SIZES, SIZES))
_DIFFERENCE = np.arange(SIZES)[:, None] - np.arange(SIZES)[None, :]  # [i, j]: i - j


class DealCounts(struct.PyTreeNode):
    """Numbers of deals that agree with some constraints. float32; exact up to 2**24.

    x and y are cards of a pair of suits for opponents 0 and 1, a and b cards of one suit for them.
    """

    unseen: Any  # [52] bool
    capacities: Any  # [3] cards of each opponent
    ways: Any  # [4, 14, 14], [suit, a, b]: ways to deal the suit
    pairs: Any  # [2, 14, 14, 14], [pair, x, y, a]: ways to deal the pair with a of its first suit
    joint: Any  # [14, 14], [x, y] of the first pair: ways to deal everything
    total: Any  # [] number of deals


def count_deals(known: Constraints) -> DealCounts:
    """The table of all deals. On the host, given numpy arrays, in exact whole numbers (int64)."""
    host = isinstance(known.unseen, np.ndarray)
    xp, dtype = (np, np.int64) if host else (jnp, jnp.float32)
    in_suit = _by_suit(known.unseen).sum(axis=1)
    c = in_suit[:, None, None] - (_A + _B)[None]
    numbers = (_A[None], _B[None], c)
    fits = [(number == 0) | known.allowed[i][:, None, None] for i, number in enumerate(numbers)]
    ways = xp.where(fits[0] & fits[1] & fits[2], xp.asarray(_WAYS, dtype)[in_suit], 0)
    pairs = _pair_ways(xp, ways[::2], ways[1::2])
    first, second = pairs.sum(axis=3)
    # The second pair has to hold what the first leaves of the two capacities.
    x, y = (known.capacities[i].astype(np.int32) - np.arange(SIZES) for i in range(2))
    rest = second[xp.clip(x, 0, NUM_RANKS)][:, xp.clip(y, 0, NUM_RANKS)]
    possible = ((x >= 0) & (x < SIZES))[:, None] & ((y >= 0) & (y < SIZES))[None, :]
    # With the room of opponents 0 and 1 filled exactly, that of opponent 2 is as well.
    possible = possible & (known.capacities.sum() == in_suit.sum())
    joint = xp.where(possible, first * rest, 0)
    return DealCounts(
        known.unseen, known.capacities.astype(np.int32), ways, pairs, joint, joint.sum()
    )


def _pair_ways(xp: Any, first: Any, second: Any) -> Any:
    """The sum over b of first[pair, a, b] * second[pair, x - a, y - b], by [pair, x, y, a]."""
    possible, index = _DIFFERENCE >= 0, np.maximum(_DIFFERENCE, 0)
    shifted = xp.where(possible[None, None], second[:, :, index], 0)  # [pair, x - a, y, b]
    # Counts are whole numbers: accelerators would round them in their usual precision.
    exact = {} if xp is np else {"precision": jax.lax.Precision.HIGHEST}
    ways = xp.einsum("pxyb,pab->pxya", shifted, first, **exact)
    y, a = np.indices((SIZES, SIZES))
    return xp.where(possible[None, :, None, :], ways[:, index[:, None, :], y, a], 0)


def draw(key: jax.Array, deals: DealCounts, n: int) -> jax.Array:
    """`n` independent uniform deals: the opponent, int8[n, 52], who gets each unseen card.

    NOBODY for the other cards; for all cards if there is no deal at all.
    """
    bits = jax.random.bits(key, (n, NUM_CARDS + _NUM_PICKS), jnp.uint32)
    return jax.vmap(lambda words: _draw_one(words, deals))(bits)


def _draw_one(words: jax.Array, deals: DealCounts) -> jax.Array:
    # 23 bits: then uniform * total < total also after rounding, so no pick is ever empty.
    scale = np.float32(2.0**-_UNIFORM_BITS)
    uniforms = (words[:_NUM_PICKS] >> (32 - _UNIFORM_BITS)).astype(jnp.float32) * scale

    def pick(uniform, weights, _):
        ends = _running_sum(weights)
        return _find(ends, uniform * ends[-1])

    a, b, _ = _splits(deals, pick, uniforms.reshape(-1, 2), jnp.float32(0))
    place = _places(words[_NUM_PICKS:].reshape(NUM_SUITS, NUM_RANKS), _by_suit(deals.unseen))
    return _only_unseen(
        deals, (place >= a[:, None]).astype(jnp.int8) + (place >= (a + b)[:, None]).astype(jnp.int8)
    )


def _places(order: jax.Array, unseen: jax.Array) -> jax.Array:
    """Place of each card, int8[4, 13], among the unseen ones of its suit sorted by `order`."""
    # The last bits are the rank: no two places are equal, whatever the random words are.
    order = (order & ~np.uint32(15)) | np.arange(NUM_RANKS, dtype=np.uint32)[None]

    # A loop of simple steps: as one reduction, the compiler makes the random `order` anew for
    # every comparison.
    def compare(i, place):
        other, counts = (jax.lax.dynamic_slice_in_dim(x, i, 1, axis=1) for x in (order, unseen))
        return place + ((other < order) & counts).astype(jnp.int8)

    return jax.lax.fori_loop(0, NUM_RANKS, compare, jnp.zeros(order.shape, jnp.int8))


def nth(deals: DealCounts, index: jax.Array) -> jax.Array:
    """Deal number `index`, 0 to total - 1, in a fixed order of all deals: int8[52] as in `draw`.

    Precondition: total <= 2**23.
    """

    def pick(_, weights, rank):
        return _find(_running_sum(weights), rank)

    unused = jnp.zeros((_NUM_PICKS // 2, 2), jnp.float32)
    a, b, ranks = _splits(deals, pick, unused, index.astype(jnp.float32))
    unseen = _by_suit(deals.unseen)
    c = jnp.sum(unseen, axis=1, dtype=jnp.int8) - a - b
    opponent = jax.vmap(_nth_arrangement)(unseen, jnp.stack([a, b, c], axis=1), ranks)
    return _only_unseen(deals, opponent)


def _splits(
    deals: DealCounts, pick: Callable[..., Any], numbers: jax.Array, rank: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The split of each suit: a and b, int8[4], and the rank, [4], of the deal within it.

    `pick(number, weights, rank)` gives an index, by one of the `numbers` [3, 2] or by a rank below
    the sum of the weights, and the rank within that index.
    """
    x, rank = pick(numbers[0, 0], jnp.sum(deals.joint, axis=1), rank)
    y, rank = pick(numbers[0, 1], deals.joint[x], rank)
    ranks = _digits(rank, jnp.sum(deals.pairs[0, x, y]))
    xs = jnp.stack([x, deals.capacities[0] - x])
    ys = jnp.stack([y, deals.capacities[1] - y])

    def split(pair):
        (first, second), by_a, x, y, numbers, rank = pair
        a, rank = pick(numbers[0], by_a[x, y], rank)
        rest = y - np.arange(SIZES)
        ways_of_rest = jnp.where(rest >= 0, second[x - a, jnp.maximum(rest, 0)], 0)
        b, rank = pick(numbers[1], first[a] * ways_of_rest, rank)
        return jnp.stack([a, x - a]), jnp.stack([b, y - b]), _digits(rank, first[a, b])

    # A loop, not two copies: it ends with stored numbers, which else would be computed again for
    # each card.
    ways = deals.ways.reshape(2, 2, SIZES, SIZES)
    a, b, ranks = jax.lax.map(split, (ways, deals.pairs, xs, ys, numbers[1:], ranks))
    return a.reshape(-1).astype(jnp.int8), b.reshape(-1).astype(jnp.int8), ranks.reshape(-1)


def _digits(rank: jax.Array, base: jax.Array) -> jax.Array:
    """A rank among products of two numbers of ways as ranks in each, [2]; `base` is the first."""
    high = jnp.floor(rank / jnp.maximum(base, 1))
    return jnp.stack([rank - high * base, high])


def _running_sum(weights: jax.Array) -> list[jax.Array]:
    # One after the other: then an entry of weight 0 adds exactly nothing and is never picked.
    ends = [weights[0]]
    for i in range(1, weights.shape[0]):
        ends.append(ends[-1] + weights[i])
    return ends


def _find(ends: list[jax.Array], rank: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The first index whose running sum is above `rank`, and the rank within it."""
    index, below = jnp.int32(0), jnp.float32(0)
    for end in ends[:-1]:
        index = index + (rank >= end).astype(jnp.int32)
        below = jnp.where(rank >= end, end, below)
    return index, rank - below


def _nth_arrangement(unseen: jax.Array, room: jax.Array, rank: jax.Array) -> jax.Array:
    """The opponent of each card of one suit, int8[13], in arrangement number `rank`."""

    def give(carry, is_unseen):
        room, ways, rank = carry
        shares = ways * room / jnp.maximum(jnp.sum(room), 1)
        i, rank_within = _find(_running_sum(shares), rank)
        gets = (i == np.arange(NUM_OPPONENTS)) & is_unseen
        ways_left = jnp.where(is_unseen, jnp.sum(jnp.where(gets, shares, 0)), ways)
        return (
            room - gets.astype(jnp.float32),
            ways_left,
            jnp.where(is_unseen, rank_within, rank),
        ), i

    room = room.astype(jnp.int32)
    ways = jnp.asarray(_WAYS, jnp.float32)[jnp.sum(room), room[0], room[1]]
    return jax.lax.scan(give, (room.astype(jnp.float32), ways, rank), unseen)[1]


def _by_suit(mask: Any) -> Any:
    return mask.reshape(NUM_SUITS, NUM_RANKS)


def _only_unseen(deals: DealCounts, opponent: jax.Array) -> jax.Array:
    dealt = deals.unseen & (deals.total > 0)
    return jnp.where(dealt, opponent.reshape(NUM_CARDS).astype(jnp.int8), jnp.int8(NOBODY))


def sample(key: jax.Array, view: PublicView, n: int) -> jax.Array:
    """`n` independent deals, uniform over all that agree with `view`: holder seats, int8[n, 52].

    The viewer's own cards are held by the viewer, played cards by NOBODY. If no deal agrees with
    the view, the unseen cards are held by NOBODY too; `log_count` tells.
    """
    return holders(view, draw(key, count_deals(constraints(view)), n))


def log_count(view: PublicView) -> jax.Array:
    """log of the number of deals that agree with `view`, float32; -inf if there is none."""
    return jnp.log(count_deals(constraints(view)).total)


def count(view: PublicView) -> int:
    """The exact number of deals that agree with `view`. On the host."""
    return int(count_deals(jax.tree.map(np.asarray, constraints(view))).total)
