"""The paper's two figures of the network's output by card: correction factor, spread of values.

    python -m experiments.card_statistics checkpoint=runs/train deals=256

Positions are those of games of `player` against itself in which the player to move has a choice;
a card counts wherever it is legal. The correction factor is exp(-beta regret), regret being the
loss against the best legal card by the policy network, which is given the averaged input as in IEC.
The value of playing a card is that of one visit with the value network, all hands known. Nearly all
of its variance is the luck of the deal, which says nothing about cards, so the spread is the
standard deviation of a card's value against the mean over the legal cards of the position. The
policy_spread is the same for what the policy network says, which does not know the hands.

The result has `cards` by name: positions, correction_factor, spread and policy_spread, each with
its standard_error over games (bootstrap), and the paper's; `factor_correlation`,
`spread_correlation` and `policy_spread_correlation` of ours and the paper's over the 52 cards;
`interrupted`. Pictures are <picture>_factor.png and <picture>_spread.png.
"""

import sys
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.card_plots import plot_by_card
from experiments.cli import command, finish
from experiments.correction import correction_factors
from experiments.positions import MeasureFn, final_states, sums_over_positions, visit_once
from experiments.published import published_cards
from experiments.resampling import deviation_of, mean_of, with_errors
from experiments.results import ROOT, print_table
from experiments.settings import PlaySettings
from gongzhu_jax import players
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation.stats import number
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import CARD_NAMES
from gongzhu_jax.network.features import encode_averaged
from gongzhu_jax.network.policy_value import POLICY_SHARPNESS, Network
from gongzhu_jax.network.policy_value import make as make_network
from gongzhu_jax.network.weights import load_weights


@dataclass(frozen=True, kw_only=True)
class CardStatisticsSettings(PlaySettings):
    checkpoint: str | None
    player: str
    beta: float
    picture: str | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.beta < 0:
            raise ConfigError("beta must be 0 or more")


def relative(values: jax.Array, counted: jax.Array) -> jax.Array:
    """Values [games, 52] against the mean over those that count; 0 for the others."""
    known = jnp.where(counted, values, 0.0)
    mean = jnp.sum(known, axis=1) / jnp.maximum(jnp.sum(counted, axis=1), 1)
    return jnp.where(counted, known - mean[:, None], 0.0)


def make_measure(network: Network, beta: float) -> MeasureFn:
    """Sums of factors and of relative values at one stage, [games, 52]."""

    def measure(params: Any, key: jax.Array, states: env.GameState) -> dict[str, jax.Array]:
        legal = jax.vmap(env.legal_mask)(states)
        counted = legal & (jnp.sum(legal, axis=1, keepdims=True) > 1)
        logits, _ = network.apply(params, jax.vmap(encode_averaged)(states))
        value = relative(visit_once(network, params, key, states), counted)
        policy = relative(logits / POLICY_SHARPNESS, counted)
        return {
            "count": counted.astype(jnp.float32),
            "factor": jnp.where(counted, correction_factors(logits, legal, beta), 0.0),
            "value": value,
            "square": jnp.square(value),
            "policy": policy,
            "policy_square": jnp.square(policy),
        }

    return measure


def summarise(sums: dict[str, np.ndarray]) -> dict[str, Any]:
    """The result from sums over games, [games, 52]."""
    published = published_cards()
    count = sums["count"].sum(axis=0)
    factor, factor_error = with_errors(mean_of("factor"), sums)
    spread, spread_error = with_errors(deviation_of("value", "square"), sums)
    policy, policy_error = with_errors(deviation_of("policy", "policy_square"), sums)
    cards = {
        name: {
            "positions": int(count[card]),
            "correction_factor": number(factor[card]),
            "correction_factor_standard_error": number(factor_error[card]),
            "paper_correction_factor": float(published["correction_factor"][card]),
            "spread": number(spread[card]),
            "spread_standard_error": number(spread_error[card]),
            "policy_spread": number(policy[card]),
            "policy_spread_standard_error": number(policy_error[card]),
            "paper_spread": float(published["spread"][card]),
        }
        for card, name in enumerate(CARD_NAMES)
    }
    return {
        "cards": cards,
        "factor_correlation": _correlation(factor, published["correction_factor"]),
        "spread_correlation": _correlation(spread, published["spread"]),
        "policy_spread_correlation": _correlation(policy, published["spread"]),
        "interrupted": False,
    }


def _correlation(ours: np.ndarray, paper: np.ndarray) -> float | None:
    known = np.isfinite(ours)
    if known.sum() < 3 or ours[known].std() == 0:
        return None
    return float(np.corrcoef(ours[known], paper[known])[0, 1])


@command("card_statistics", CardStatisticsSettings)
def main(settings: CardStatisticsSettings, line: str) -> int:
    config, params = load_weights(settings.checkpoint)
    player = players.make(settings.player, checkpoint=settings.checkpoint)
    measure = make_measure(make_network(config), settings.beta)
    sums = sums_over_positions(final_states(player, settings), measure, params, settings.seed)
    result = summarise(sums)
    print_table("by card", [{"card": name, **row} for name, row in result["cards"].items()])
    if settings.picture is not None:
        stem = str(ROOT / settings.picture)
        factor = f"mean correction factor (beta {settings.beta})"
        plot_by_card(result["cards"], "correction_factor", factor, f"{stem}_factor.png")
        plot_by_card(
            result["cards"], "spread", "spread of values, points (sd)", f"{stem}_spread.png"
        )
    return finish("card_statistics", result, settings, line)


if __name__ == "__main__":
    sys.exit(main())
