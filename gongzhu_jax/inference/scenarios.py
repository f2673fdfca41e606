"""Scenarios: deals of the hidden cards that agree with what one seat knows, by uniform or
stratified sampling (section 5).

Stratified: a few key cards are placed on the opponents in every possible way, and each placement,
a stratum, gets the same number of draws. Deals are drawn from a proposal, which is uniform in the
paper; 1 / probability of the draw is part of the importance weight, so that averages estimate what
they would with uniform draws. Of many weighed scenarios some are chosen for the search by
resampling, so that averages stay unbiased.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from gongzhu_jax.game.cards import NO_CARD, NOBODY, NUM_CARDS
from gongzhu_jax.game.public_view import PublicView
from gongzhu_jax.inference.config import ScenarioConfig
from gongzhu_jax.inference.constraints import NUM_OPPONENTS, Constraints, constraints, holders
from gongzhu_jax.inference.key_cards import key_cards
from gongzhu_jax.inference.registry import PROPOSALS
from gongzhu_jax.inference.sampling import DealCounts, count_deals, draw


class Scenarios(struct.PyTreeNode):
    """N scenarios of one decision."""

    opponent: jax.Array  # [N, 52] int8, opponent who holds each unseen card; NOBODY for the others
    holder: jax.Array  # [N, 52] int8, the same as seats, and the viewer for its own cards
    valid: jax.Array  # [N] bool; fewer than N are drawn where strata do not share N evenly
    log_weight: jax.Array  # [N] float32, up to a constant; -inf where not valid


class UniformProposal:
    """Every deal that agrees with the constraints is equally likely (the paper)."""

    def log_odds(self, params: object, views: PublicView) -> None:
        return None

    def table(self, known: Constraints, log_odds: jax.Array | None) -> DealCounts:
        return count_deals(known)

    def draw(self, key: jax.Array, table: DealCounts, n: int) -> tuple[jax.Array, jax.Array]:
        return draw(key, table, n), jnp.broadcast_to(-jnp.log(table.total), (n,))

    def log_density(self, log_odds: jax.Array | None, opponent: jax.Array) -> jax.Array:
        return jnp.zeros(opponent.shape[:-1])


PROPOSALS["uniform"] = UniformProposal()


def strata(view: PublicView, count: int, order: str = "list"):
    """All placements of `count` key cards on the opponents: S = 3**count.

    Returns the key cards [count]; the placements, opponents int8[S, count]; which are different
    placements that the key cards' suits and the hand sizes allow, bool[S]; and what is left to
    deal in each, leading axis S.
    """
    cards = key_cards(view, count, order)
    placements = np.array(
        list(itertools.product(range(NUM_OPPONENTS), repeat=count)), np.int8
    ).reshape(NUM_OPPONENTS**count, count)
    known = constraints(view)

    def place(placement):
        left, allowed = known, jnp.bool_(True)
        for i in range(count):
            given = left.give(cards[i], placement[i])
            absent = cards[i] == NO_CARD
            left = jax.tree.map(lambda old, new, a=absent: jnp.where(a, old, new), left, given)
            # Without a card to place only one of the placements is kept.
            allowed &= jnp.where(absent, placement[i] == 0, jnp.all(given.capacities >= 0))
        return allowed, left

    allowed, known = jax.vmap(place)(jnp.asarray(placements))
    return cards, placements, allowed, known


def draw_scenarios(
    key: jax.Array, view: PublicView, config: ScenarioConfig, log_odds: jax.Array | None = None
) -> Scenarios:
    """The scenarios of one decision; `log_odds` are those of the proposal for this view."""
    if config.stratified:
        return _stratified(key, view, config, log_odds)
    proposal = PROPOSALS[config.proposal]
    table = proposal.table(constraints(view), log_odds)
    opponent, log_probability = proposal.draw(key, table, config.drawn)
    valid = jnp.isfinite(log_probability)  # of no deal there is no probability
    log_weight = jnp.where(valid, -log_probability, -jnp.inf)
    return Scenarios(opponent, holders(view, opponent), valid, log_weight)


def _stratified(
    key: jax.Array, view: PublicView, config: ScenarioConfig, log_odds: jax.Array | None
) -> Scenarios:
    proposal = PROPOSALS[config.proposal]
    cards, placements, allowed, known = strata(view, config.key_cards, config.key_card_order)
    tables = jax.vmap(lambda left: proposal.table(left, log_odds))(known)
    # Strata weigh by their deals, so those are counted also where the proposal is not uniform.
    counts = tables if isinstance(tables, DealCounts) else jax.vmap(count_deals)(known)
    feasible = allowed & (counts.total > 0)
    # Shares are counted before a placement turns out to leave no deal of the other cards, as in
    # the original runs; that happens in about one decision of a hundred.
    per_stratum = config.drawn // jnp.maximum(jnp.sum(allowed), 1)
    # Draw number i belongs to the (i // per_stratum)-th feasible stratum.
    rank = jnp.cumsum(feasible) - 1
    wanted = jnp.arange(config.drawn) // jnp.maximum(per_stratum, 1)
    stratum = jnp.argmax(feasible[None, :] & (rank[None, :] == wanted[:, None]), axis=1)
    valid = wanted < jnp.sum(feasible)

    def draw_one(key, stratum):
        table = jax.tree.map(lambda leaf: leaf[stratum], tables)
        (opponent,), (log_probability,) = proposal.draw(key, table, 1)
        for i in range(config.key_cards):
            here = np.arange(NUM_CARDS) == cards[i]
            opponent = jnp.where(here, jnp.asarray(placements)[stratum, i], opponent)
        return opponent, log_probability

    opponent, log_probability = jax.vmap(draw_one)(jax.random.split(key, config.drawn), stratum)
    opponent = jnp.where(valid[:, None], opponent, jnp.int8(NOBODY))
    log_total = jnp.log(counts.total[stratum])
    log_weight = -log_probability - log_total
    if config.stratum_weights == "exact":
        log_weight += log_total
    log_weight = jnp.where(valid, log_weight, -jnp.inf)
    return Scenarios(opponent, holders(view, opponent), valid, log_weight)


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
    to 1; 0 where there are not so many.

    A scenario is kept with a probability in proportion to its weight, at most 1, and counts for
    more the less likely it was kept (Fearnhead and Clifford, 2003): those of the largest weights
    are kept for certain with the weights they have, the others all get the same one. No index is
    taken twice, and among choices without bias this one changes the weights least, in squares.
    """
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
