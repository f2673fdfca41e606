"""The paper's two figures of the network's output by card: correction factor, spread of values.

    python -m experiments.paper.card_statistics deals=256

Positions are those of games of `player` against itself in which the player to move has a choice;
a card counts wherever it is legal. The correction factor is exp(-beta regret), regret being the
loss against the best legal card by the policy network, which is given the averaged input as in IEC.
The value of playing a card is that of one visit with the value network, all hands known. Nearly all
of its variance is the luck of the deal, which says nothing about cards, so the spread is the
standard deviation of a card's value against the mean over the legal cards of the position. The
spread by the policy is the same for what the policy network says, which does not know the hands.

Beside them stand the definitions of the original program: the factor only where an eight or higher
was played, over the legal cards of that suit, clipped and by the regret within the suit; and the
standard deviation of what the policy says of a card, not relative to the others.

The result has `blocks`: sums over blocks of games by card, [blocks][52].
"""

import functools
from pathlib import Path

import jax
import jax.numpy as jnp

from experiments.common.cli import Result, experiment
from experiments.common.plots import plot_by_card
from experiments.common.positions import (
    ORIGINAL_FACTOR,
    FactorSettings,
    Figures,
    Looked,
    correction_factors,
    measure_games,
    visit_once,
)
from experiments.common.results import Workplace
from experiments.report.cards import card_statistics
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_RANKS, RANK, SUIT
from gongzhu_jax.inference.correction import LOWEST_RANK
from gongzhu_jax.network.features import encode_averaged
from gongzhu_jax.network.policy_value import POLICY_SHARPNESS, Network


def relative(values: jax.Array, counted: jax.Array) -> jax.Array:
    """Values [games, 52] against the mean over those that count; 0 for the others."""
    known = jnp.where(counted, values, 0.0)
    count = jnp.maximum(jnp.sum(counted, axis=1), 1).astype(jnp.float32)
    mean = jnp.sum(known, axis=1) / count
    return jnp.where(counted, known - mean[:, None], 0.0)


def measure(at: Looked, network: Network, beta: float) -> Figures:
    """Sums of factors and of relative values at one stage, [games, 52]."""
    legal = jax.vmap(env.legal_mask)(at.states)
    counted = legal & (jnp.sum(legal, axis=1, keepdims=True) > 1)
    logits, _ = network.apply(at.params, jax.vmap(encode_averaged)(at.states))
    factors = jax.vmap(correction_factors, (0, 0, None))(logits, at.states, beta)
    value = relative(visit_once(network, at.params, at.key, at.states), counted)
    output = jnp.where(counted, logits / POLICY_SHARPNESS, 0.0)
    policy = relative(output, counted)
    high = jnp.asarray(RANK)[at.cards] + LOWEST_RANK >= ORIGINAL_FACTOR.min_rank
    of_suit = jnp.asarray(SUIT)[None, :] == (at.cards // NUM_RANKS)[:, None]
    sliced = counted & high[:, None] & of_suit
    clipped = functools.partial(correction_factors, config=ORIGINAL_FACTOR)
    originals = jax.vmap(clipped, (0, 0, None))(logits, at.states, beta)
    return {
        "count": counted.astype(jnp.float32),
        "factor": jnp.where(counted, factors, 0.0),
        "value": value,
        "square": jnp.square(value),
        "policy": policy,
        "policy_square": jnp.square(policy),
        "output": output,
        "output_square": jnp.square(output),
        "sliced": sliced.astype(jnp.float32),
        "original_factor": jnp.where(sliced, originals, 0.0),
    }


def run(settings: FactorSettings, work: Workplace) -> Result:
    return measure_games(settings, measure, "beta")


def draw(result: Result, folder: Path) -> None:
    factor, original_factor, spread, _, original_spread = card_statistics(result).tables
    both = {"ours": factor, "ours, original's definition": original_factor}
    label = f"mean correction factor (beta {result['beta']})"
    plot_by_card(both, label, folder / "cards_factor.png")
    both = {"ours": spread, "ours, original's definition": original_spread}
    plot_by_card(both, "spread of values, points (sd)", folder / "cards_spread.png")


main = experiment("paper/card_statistics", FactorSettings, run, draw)

if __name__ == "__main__":
    raise SystemExit(main())
