"""The paper's table of card values: Mr. Greed's parameters beside what the network says.

    python -m experiments.paper.card_values deals=512

The value of a high card is what it is worth to still have it instead of the lowest card of its
suit. It is measured in positions of games of `player` against itself in which the player to move
cannot follow suit, holds the card and a lower one of that suit, and does not see the suit's key
card (SQ, DJ, C10: not played, not in the own hand). Neither discard can then take the trick, so the
value is Q(discarding the lowest) - Q(discarding the card), Q by one visit with the value network,
all hands known. Negative: a burden, better to be rid of it, as in the paper. Late in the game the
holder of a key card can no longer keep it back, so the last tricks are also measured alone.

The result has `blocks`: sums over blocks of games by card, [blocks][9], and those of late tricks.
"""

import jax
import jax.numpy as jnp
import numpy as np

from experiments.common.cli import Result, experiment
from experiments.common.positions import (
    Figures,
    Looked,
    PositionSettings,
    measure_games,
    visit_once,
)
from experiments.common.results import Workplace
from experiments.paper.published import paper_rows
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NO_CARD, NUM_RANKS, NUM_SEATS, SUIT, card_id, card_ids
from gongzhu_jax.network.policy_value import Network

CARDS = tuple(paper_rows("card_values"))
KEY_CARDS = {"S": "SQ", "D": "DJ", "C": "C10"}
_CARDS = np.array(card_ids(CARDS))
_KEYS = np.array([card_id(KEY_CARDS[name[0]]) for name in CARDS])
LATE = 7
"""Tricks from this one on, counted from 0, are late."""


def comparable(state: env.GameState) -> tuple[jax.Array, jax.Array]:
    """Which of the cards can be measured in a position, bool[9], and against which lowest card of
    their suits, int[9]."""
    mover = env.player_to_move(state)
    hand = state.holder == mover
    lead = state.trick[0]
    discarding = (lead != NO_CARD) & ~jnp.any(hand & (lead // NUM_RANKS == SUIT))
    of_suit = hand[None, :] & (SUIT[_CARDS][:, None] == SUIT[None, :])  # [9, 52]
    lowest = jnp.argmax(of_suit, axis=1)  # ids of a suit ascend with the rank
    key_holder = state.holder[_KEYS]
    unseen = (key_holder >= 0) & (key_holder != mover)
    return discarding & hand[_CARDS] & (lowest < _CARDS) & unseen, lowest


def measure(at: Looked, network: Network) -> Figures:
    """Sums of values at one stage, [games, 9]."""
    q = visit_once(network, at.params, at.key, at.states)
    measured, lowest = jax.vmap(comparable)(at.states)
    value = jnp.take_along_axis(q, lowest, axis=1) - q[:, _CARDS]
    late = measured & (at.states.stage >= LATE * NUM_SEATS)[:, None]
    return {
        "count": measured.astype(jnp.float32),
        "value": jnp.where(measured, value, 0.0),
        "late_count": late.astype(jnp.float32),
        "late_value": jnp.where(late, value, 0.0),
    }


def run(settings: PositionSettings, work: Workplace) -> Result:
    return {**measure_games(settings, measure), "cards": list(CARDS)}


main = experiment("paper/card_values", PositionSettings, run)

if __name__ == "__main__":
    raise SystemExit(main())
