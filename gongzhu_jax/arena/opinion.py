"""What a searching player thinks of a position, in plain types."""

from typing import Any

import jax
import numpy as np

from gongzhu_jax.game import PublicView
from gongzhu_jax.game.cards import CARD_NAMES, POINT_CARDS
from gongzhu_jax.inference.decision import Decision
from gongzhu_jax.inference.explanation import believed_holders, q_standard_error
from gongzhu_jax.players import Player
from gongzhu_jax.players.scrofazero import decision_of


def opinion(player: Player, key: jax.Array, view: PublicView) -> dict[str, Any]:
    """Its card, Q of each legal card (points for its team at the end; none where it is forced) and
    by how much it is below that of its card, with standard errors, and for the point cards it
    does not see the probability of each seat."""
    decision = jax.tree.map(np.asarray, decision_of(player, view, key))
    error = np.asarray(q_standard_error(decision))[0]
    regret, regret_error = _regret(decision)
    values = {"mean": decision.q[0], "error": error, "regret": regret, "regret_error": regret_error}
    believed = np.asarray(believed_holders(decision.scenarios.holder, decision.weight))[0]
    unseen = [c for c in POINT_CARDS.tolist() if not view.hand[c] and believed[c].sum() > 0]
    return {
        "player": player.name,
        "card": CARD_NAMES[int(decision.card[0])],
        "q": {
            CARD_NAMES[card]: {name: round(float(of[card]), 2) for name, of in values.items()}
            for card in np.flatnonzero(np.isfinite(decision.q[0])).tolist()
        },
        "owners": {CARD_NAMES[card]: believed[card].round(3).tolist() for card in unseen},
    }


def _regret(decision: Decision) -> tuple[np.ndarray, np.ndarray]:
    """How far Q of each card, [52], is below Q of the card chosen, with its standard error. Cards
    are compared scenario by scenario, so the luck of the scenarios counts for little."""
    chosen, legal = int(decision.card[0]), np.isfinite(decision.q[0])
    searched = np.isfinite(decision.scenario_q[0]) & legal
    q = np.where(legal, decision.q[0], 0.0)
    of_scenario = np.where(searched, decision.scenario_q[0], 0.0)
    regret = np.where(legal, q[chosen] - q, 0.0)
    below = of_scenario[:, [chosen]] - of_scenario
    deviation = np.where(searched & searched[:, [chosen]], below - regret, 0.0)
    return regret, np.sqrt(np.sum(np.square(decision.weight[0][:, None] * deviation), axis=0))
