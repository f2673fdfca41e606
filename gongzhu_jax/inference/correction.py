"""Correction factors: weights of scenarios by IEC and by the naive Bayes product (section 5).

A slice is one play of the history. In a scenario its actor's hand at that moment is known, so the
policy network says how much the actor gave away with the card: its regret. The rule "iec-class"
keeps the denominators that the paper derives for a whole class of scenarios and then drops. Axes: B
decisions, N scenarios each.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax import ragged
from gongzhu_jax.device_profile import profile
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_CARDS, NUM_RANKS, POINT_CARDS, RANK, SUIT
from gongzhu_jax.game.public_view import PublicView, unseen_mask, with_deal
from gongzhu_jax.inference.config import InferenceConfig, InferenceParams, WeightConfig
from gongzhu_jax.inference.registry import RULES, LogWeights
from gongzhu_jax.inference.scenarios import Scenarios
from gongzhu_jax.network.features import encode, encode_averaged
from gongzhu_jax.network.policy_value import POLICY_SHARPNESS, Network

SMALLEST_FACTOR = 0.1
"""The lower bound of the "clipped" factor."""
LOWEST_RANK = 2
"""The number that players call the rank of a two."""


def counted_slices(view: PublicView, config: WeightConfig) -> jax.Array:
    """Which plays of the history count for the viewer's decision, bool[52]."""
    card = jnp.maximum(view.plays, 0)
    by_others = (view.plays >= 0) & (view.seats != view.seat)
    if config.slices == "every":
        return by_others
    high = jnp.asarray(RANK)[card] + LOWEST_RANK >= config.min_rank
    lead = view.trick[0]
    of_suit = (lead < 0) | (card // NUM_RANKS == lead // NUM_RANKS)
    return by_others & high & (of_suit | (not config.suit_rule))


def irrelevant_cards(view: PublicView, config: WeightConfig) -> jax.Array:
    """The cards that scenarios of one class may differ in, bool[52]: unseen ones that are too low
    to count and bring no points."""
    low = np.asarray(RANK) + LOWEST_RANK < config.min_rank
    return unseen_mask(view) & jnp.asarray(low & ~np.isin(np.arange(NUM_CARDS), POINT_CARDS))


def lend(state: env.GameState, irrelevant: jax.Array, voids: jax.Array) -> env.GameState:
    """The state with all irrelevant cards in the hand of its mover, but for those of suits in which
    it has shown a void, bool[4, 4]."""
    mover = env.player_to_move(state)
    may_hold = ~jnp.repeat(voids[mover], NUM_RANKS)
    return state.replace(holder=jnp.where(irrelevant & may_hold, mover, state.holder))


class ClassSums(NamedTuple):
    """Sums of the correction factors gamma at one slice, with the paper's letters."""

    log_gamma: jax.Array  # [52], of each card
    y: jax.Array  # [] over the legal cards of the mover that are not irrelevant
    j: jax.Array  # [] over the legal irrelevant cards, whoever holds them

    @property
    def log_denominator(self) -> jax.Array:
        """log of Y + J / 3, by which the integral over a class divides gamma of the play."""
        return jnp.log(self.y + self.j / 3)


def class_sums(q: jax.Array, legal: jax.Array, lent: jax.Array, beta) -> ClassSums:
    """The sums at a slice where the irrelevant cards `lent`, bool[52], are in the mover's hand."""
    log_gamma = beta * (q - jnp.max(jnp.where(legal, q, -jnp.inf)))
    gamma = jnp.where(legal, jnp.exp(log_gamma), 0.0)
    of_others, of_lent = jnp.where(lent, 0.0, gamma), jnp.where(lent, gamma, 0.0)
    return ClassSums(log_gamma, jnp.sum(of_others), jnp.sum(of_lent))


def slice_log_factor(
    logits: jax.Array,
    state: env.GameState,
    card: jax.Array,
    beta: jax.Array | float,
    config: WeightConfig,
) -> jax.Array:
    """log of the factor by which a play of `card` at `state` changes a scenario's weight."""
    legal = env.legal_mask(state)
    q = logits / POLICY_SHARPNESS
    if config.rule == "bayes":
        scaled = jnp.where(legal, beta * q, -jnp.inf)
        return jax.nn.log_softmax(scaled)[card]
    compared = (
        legal & (jnp.asarray(SUIT) == card // NUM_RANKS) if config.regret == "suit" else legal
    )
    regret = jnp.max(jnp.where(compared, q, -jnp.inf)) - q[card]
    if config.factor == "clipped":
        return jnp.log(jnp.maximum(1 - beta * regret, SMALLEST_FACTOR))
    return -beta * regret


def log_weights(
    params: Any,
    views: PublicView,
    holder: jax.Array,
    beta: jax.Array,
    network: Network,
    config: WeightConfig,
    active: jax.Array | None = None,
) -> LogWeights:
    """Log weights by IEC, or by the Bayes product, of B x N scenarios.

    Args:
      views: [B].
      holder: [B, N, 52], the scenarios.
      beta: traced, in place of the number in `config`, so that a sweep compiles once.
      active: bool[B, N]; the other scenarios cost nothing and keep the log weight 0.
    """
    counts = jax.vmap(counted_slices, (0, None))(views, config)
    if config.rule == "iec-class":

        def class_factor(sums, card):
            return sums.log_gamma[card] - sums.log_denominator

        return LogWeights(
            *sum_class_slices(
                params, views, holder, counts, class_factor, beta, network, config, active
            )
        )

    def factor(logits, before, card, decision, stage):
        return slice_log_factor(logits, before, card, beta, config)

    return LogWeights(*sum_slices(params, views, holder, counts, factor, network, config, active))


def no_weights(params, views, scenarios: Scenarios, active, network, config) -> LogWeights:
    """The rule "none": the history says nothing."""
    return LogWeights(jnp.zeros(scenarios.valid.shape))


def correct(
    params: InferenceParams,
    views: PublicView,
    scenarios: Scenarios,
    active: jax.Array,
    network: Network,
    config: InferenceConfig,
) -> LogWeights:
    """The rules "iec", "iec-class" and "bayes"."""
    return log_weights(
        params.network, views, scenarios.holder, params.beta, network, config.weights, active
    )


RULES |= {"none": no_weights, "iec": correct, "iec-class": correct, "bayes": correct}


def sum_class_slices(
    params: Any,
    views: PublicView,
    holder: jax.Array,
    counts: jax.Array,
    factor: Callable[[ClassSums, jax.Array], jax.Array],
    beta: jax.Array,
    network: Network,
    config: WeightConfig,
    active: jax.Array | None = None,
    shape: tuple[int, ...] = (),
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """`sum_slices` for whole classes of scenarios: `factor` is given the sums of the slice and the
    card, and returns float32[*shape]."""
    irrelevant = jax.vmap(irrelevant_cards, (0, None))(views, config)

    def of_slice(logits, before, card, decision, stage):
        lent = irrelevant[decision] & (before.holder == env.player_to_move(before))
        q = logits / POLICY_SHARPNESS
        return factor(class_sums(q, env.legal_mask(before), lent, beta), card)

    return sum_slices(
        params, views, holder, counts, of_slice, network, config, active, shape, irrelevant
    )


def sum_slices(
    params: Any,
    views: PublicView,
    holder: jax.Array,
    counts: jax.Array,
    factor: Callable[..., jax.Array],
    network: Network,
    config: WeightConfig,
    active: jax.Array | None = None,
    shape: tuple[int, ...] = (),
    irrelevant: jax.Array | None = None,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The sum over slices of a log factor, float32[B, N, *shape]; the slices that count, and those
    given to the network.

    Args:
      counts: bool[B, 52], the slices that count.
      factor: `(logits, state before the play, card, decision, stage) -> float32[*shape]`.
      config: its inputs and chunk are used.
      irrelevant: bool[B, 52]; cards that are lent to the mover of every slice.
    """
    batch, draws = holder.shape[:2]
    # Stages of the slices that count come first; a decision's scenarios share them.
    stages = jnp.argsort(~counts, axis=1, stable=True)
    encoder = encode_averaged if config.inputs == "averaged" else encode

    def evaluate(total, row, number, live):
        decision, scenario = row // draws, row % draws
        stage = stages[decision, number]
        view = jax.tree.map(lambda leaf: leaf[decision], views)
        before = jax.vmap(env.rewind)(jax.vmap(with_deal)(view, holder[decision, scenario]), stage)
        if irrelevant is not None:
            before = jax.vmap(lend)(before, irrelevant[decision], view.voids)
        card = jnp.take_along_axis(view.plays, stage[:, None], axis=1)[:, 0]
        logits, _ = network.apply(params, jax.vmap(encoder)(before))
        log_factor = jax.vmap(factor)(logits, before, card, decision, stage)
        return total.at[jnp.where(live, decision, batch), scenario].add(log_factor, mode="drop")

    slices = jnp.broadcast_to(jnp.sum(counts, axis=1, keepdims=True), (batch, draws))
    if active is not None:
        slices = jnp.where(active, slices, 0)
    start = jnp.zeros((batch, draws, *shape))
    chunk = config.chunk or profile().states
    total, evaluated = ragged.loop(slices.reshape(-1), chunk, evaluate, start)
    return total, jnp.sum(slices), evaluated
