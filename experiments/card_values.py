"""The paper's table of card values: Mr. Greed's parameters beside what the network says.

    python -m experiments.card_values checkpoint=runs/train deals=512

The value of a high card is what it is worth to still have it instead of the lowest card of its
suit. It is measured in positions of games of `player` against itself in which the player to move
cannot follow suit, holds the card and a lower one of that suit, and does not see the suit's key
card (SQ, DJ, C10: not played, not in the own hand). Neither discard can then take the trick, so the
value is Q(discarding the lowest) - Q(discarding the card), Q by one visit with the value network,
all hands known. Negative: a burden, better to be rid of it, as in the paper.

The result has `cards` by name: value with its standard_error over games (bootstrap), positions,
greed and paper (the paper's columns for Mr. Greed and ScrofaZero); `interrupted`.
"""

import sys
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.cli import command, finish
from experiments.positions import MeasureFn, final_states, sums_over_positions, visit_once
from experiments.resampling import mean_of, with_errors
from experiments.results import print_table
from experiments.settings import PlaySettings
from gongzhu_jax import players
from gongzhu_jax.evaluation.stats import number
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NO_CARD, NUM_RANKS, SUIT, card_id, card_ids
from gongzhu_jax.network.policy_value import Network
from gongzhu_jax.network.policy_value import make as make_network
from gongzhu_jax.network.weights import load_weights

PAPER = {  # Mr. Greed, ScrofaZero
    "SA": (-50, "-20 to -40"),
    "SK": (-30, "-20 to -40"),
    "CA": (-20, "-20"),
    "CK": (-15, "-20"),
    "CQ": (-10, "-10"),
    "CJ": (-5, "-10"),
    "DA": (30, "20"),
    "DK": (20, "10"),
    "DQ": (10, "10"),
}
KEY_CARDS = {"S": "SQ", "D": "DJ", "C": "C10"}
_CARDS = np.array(card_ids(PAPER))
_KEYS = np.array([card_id(KEY_CARDS[name[0]]) for name in PAPER])


@dataclass(frozen=True, kw_only=True)
class CardValuesSettings(PlaySettings):
    checkpoint: str | None
    player: str


def comparable(state: env.GameState) -> tuple[jax.Array, jax.Array]:
    """Of one position: which of the cards can be measured, bool[9], and against which lowest card
    of their suits, int[9]."""
    mover = env.player_to_move(state)
    hand = state.holder == mover
    lead = state.trick[0]
    discarding = (lead != NO_CARD) & ~jnp.any(hand & (lead // NUM_RANKS == SUIT))
    of_suit = hand[None, :] & (SUIT[_CARDS][:, None] == SUIT[None, :])  # [9, 52]
    lowest = jnp.argmax(of_suit, axis=1)  # ids of a suit ascend with the rank
    key_holder = state.holder[_KEYS]
    unseen = (key_holder >= 0) & (key_holder != mover)
    return discarding & hand[_CARDS] & (lowest < _CARDS) & unseen, lowest


def make_measure(network: Network) -> MeasureFn:
    def measure(params: Any, key: jax.Array, states: env.GameState) -> dict[str, jax.Array]:
        q = visit_once(network, params, key, states)
        measured, lowest = jax.vmap(comparable)(states)
        value = jnp.take_along_axis(q, lowest, axis=1) - q[:, _CARDS]
        return {
            "count": measured.astype(jnp.float32),
            "value": jnp.where(measured, value, 0.0),
        }

    return measure


@command("card_values", CardValuesSettings)
def main(settings: CardValuesSettings, line: str) -> int:
    config, params = load_weights(settings.checkpoint)
    player = players.make(settings.player, checkpoint=settings.checkpoint)
    finals = final_states(player, settings)
    sums = sums_over_positions(finals, make_measure(make_network(config)), params, settings.seed)
    result = {"cards": summarise(sums), "interrupted": False}
    print_table("value of a card", [{"card": n, **row} for n, row in result["cards"].items()])
    return finish("card_values", result, settings, line)


def summarise(sums: dict[str, np.ndarray]) -> dict[str, dict[str, Any]]:
    """By card, from sums over games, [games, 9]."""
    value, error = with_errors(mean_of("value"), sums)
    return {
        name: {
            "value": number(value[i]),
            "standard_error": number(error[i]),
            "positions": int(sums["count"][:, i].sum()),
            "greed": greed,
            "paper": paper,
        }
        for i, (name, (greed, paper)) in enumerate(PAPER.items())
    }


if __name__ == "__main__":
    sys.exit(main())
