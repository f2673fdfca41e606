"""Scenarios: hidden deals that one seat imagines, by uniform or stratified sampling (section 5).

Stratified: a few key cards are placed on the opponents in every possible way, and each placement,
a stratum, gets the same number of draws, uniform within it. Either way deals can be drawn by the
odds of a belief instead of uniformly; 1 / probability of the draw is part of the weight, so that
averages estimate what they would with uniform draws.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game.cards import (
    NO_CARD,
    NOBODY,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    PIG,
    SHEEP,
    TRANSFORMER,
    card_ids,
)
from gongzhu_jax.game.view import PublicView, unseen_mask
from gongzhu_jax.inference.config import ScenarioConfig
from gongzhu_jax.inference.constraints import (
    NUM_OPPONENTS,
    Constraints,
    constraints,
    holders,
)
from gongzhu_jax.inference.odds import OddsTable, weigh
from gongzhu_jax.inference.odds import draw as draw_by_odds
from gongzhu_jax.inference.sampling import Deals, count_deals, draw

_FOLLOWING = (
    "SQ SA SK SJ S10",
    "HA HK HQ HJ H10",
    "DJ DA DK DQ D10",
    "C10 CA CK CQ CJ",
)
# When leading: groups of candidates, each only while its point card is unseen.
_LEADING = (
    (PIG, "SQ SA SK"),
    (SHEEP, "DJ DA DK DQ"),
    (NO_CARD, "HA HK HQ"),
    (TRANSFORMER, "C10 CA CK CQ CJ"),
)


class Scenarios(struct.PyTreeNode):
    """N imagined deals of one decision."""

    holder: jax.Array  # [N, 52] int8, holder of every card not yet played
    valid: jax.Array  # [N] bool; fewer than N deals are drawn where strata do not share N evenly
    log_weight: jax.Array  # [N] float32, up to a constant; -inf where not valid


def _priorities() -> tuple[np.ndarray, np.ndarray]:
    """[5, 52]: place of each card in the list of key cards for suit led S H D C, or leading; and
    [52]: the card that must be unseen for a card to be key when leading."""
    absent = NUM_CARDS
    order = np.full((NUM_SUITS + 1, NUM_CARDS), absent, np.int32)
    for suit, names in enumerate(_FOLLOWING):
        order[suit, card_ids(names)] = np.arange(5)
    needs = np.full(NUM_CARDS, NO_CARD, np.int32)
    place = itertools.count()
    for point_card, names in _LEADING:
        for card in card_ids(names):
            order[NUM_SUITS, card] = next(place)
            needs[card] = point_card
    return order, needs


_ORDER, _NEEDS = _priorities()


def key_cards(view: PublicView, count: int) -> jax.Array:
    """The first `count` unseen cards of the list for this decision, int32; NO_CARD for none."""
    unseen = unseen_mask(view)
    lead = view.trick[0]
    row = jnp.where(lead == NO_CARD, NUM_SUITS, lead // NUM_RANKS)
    point_card_unseen = jnp.where(_NEEDS == NO_CARD, True, unseen[_NEEDS])
    eligible = unseen & ((row < NUM_SUITS) | point_card_unseen)
    place = jnp.where(eligible, jnp.asarray(_ORDER)[row], NUM_CARDS)
    chosen = []
    for _ in range(count):
        card = jnp.argmin(place)
        found = place[card] < NUM_CARDS
        chosen.append(jnp.where(found, card, NO_CARD))
        place = place.at[card].set(NUM_CARDS)
    return jnp.stack(chosen).astype(jnp.int32) if chosen else jnp.zeros((0,), jnp.int32)


def strata(view: PublicView, count: int):
    """All placements of `count` key cards on the opponents: S = 3**count.

    Returns the key cards [count]; the placements, opponents int8[S, count]; which are different
    placements that the key cards' suits and the hand sizes allow, bool[S]; and what is left to
    deal in each, leading axis S.
    """
    cards = key_cards(view, count)
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
    key: jax.Array,
    view: PublicView,
    config: ScenarioConfig,
    log_odds: jax.Array | None = None,
) -> Scenarios:
    """The scenarios of one decision; `log_odds`, [52, 3], where they are drawn by belief."""
    if config.stratified:
        return _stratified(key, view, config, log_odds)
    table = _table(constraints(view), config, log_odds)
    valid = jnp.broadcast_to(_feasible(table), (config.drawn,))
    opponent, log_share = _draw(key, table, config.drawn)
    return Scenarios(holders(view, opponent), valid, jnp.where(valid, -log_share, -jnp.inf))


def _table(known: Constraints, config: ScenarioConfig, log_odds) -> Deals | OddsTable:
    """From which deals are drawn: all of them alike, or by belief."""
    if not config.by_belief:
        return count_deals(known)
    if log_odds is None:
        raise ConfigError("draws by belief need its odds")
    return weigh(log_odds, known)


def _feasible(table: Deals | OddsTable) -> jax.Array:
    """Whether there is a deal at all."""
    return table.log_total > -jnp.inf if isinstance(table, OddsTable) else table.total > 0


def _draw(key: jax.Array, table: Deals | OddsTable, n: int) -> tuple[jax.Array, jax.Array]:
    """`n` deals, opponents [n, 52], and the log probability of each, [n]."""
    if isinstance(table, OddsTable):
        return draw_by_odds(key, table, n)
    return draw(key, table, n), jnp.broadcast_to(-jnp.log(table.total), (n,))


def _stratified(
    key: jax.Array, view: PublicView, config: ScenarioConfig, log_odds: jax.Array | None
) -> Scenarios:
    cards, placements, allowed, known = strata(view, config.key_cards)
    tables = jax.vmap(lambda left: _table(left, config, log_odds))(known)
    # Strata weigh by their deals, so those are counted also where draws are by belief.
    deals = tables if isinstance(tables, Deals) else jax.vmap(count_deals)(known)
    feasible = allowed & (deals.total > 0)
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
        (opponent,), (log_share,) = _draw(key, table, 1)
        for i in range(config.key_cards):
            here = np.arange(NUM_CARDS) == cards[i]
            opponent = jnp.where(here, jnp.asarray(placements)[stratum, i], opponent)
        return opponent, log_share

    opponent, log_share = jax.vmap(draw_one)(jax.random.split(key, config.drawn), stratum)
    opponent = jnp.where(valid[:, None], opponent, jnp.int8(NOBODY))
    log_total = jnp.log(deals.total[stratum])
    log_weight = -log_share - log_total
    if config.stratum_weights == "exact":
        log_weight += log_total
    return Scenarios(holders(view, opponent), valid, jnp.where(valid, log_weight, -jnp.inf))
