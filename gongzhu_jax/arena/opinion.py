"""What a searching player thinks of a position, in plain types."""

from typing import Any

import jax
import numpy as np

from gongzhu_jax.game import PublicView
from gongzhu_jax.game.cards import CARD_NAMES, POINT_CARDS
from gongzhu_jax.inference.explanation import believed_holders, q_standard_error
from gongzhu_jax.players import scrofazero
from gongzhu_jax.players.protocol import Player


def opinion(player: Player, key: jax.Array, view: PublicView) -> dict[str, Any]:
    """Its card, Q of each legal card (points for its team at the end; none where it is forced),
    and for the point cards it does not see the probability of each seat."""
    decision = jax.tree.map(np.asarray, scrofazero.decision_of(player, view, key))
    q, error = decision.q[0], np.asarray(q_standard_error(decision))[0]
    believed = np.asarray(believed_holders(decision.scenarios.holder, decision.weight))[0]
    unseen = [c for c in POINT_CARDS.tolist() if not view.hand[c] and believed[c].sum() > 0]
    return {
        "player": player.name,
        "card": CARD_NAMES[int(decision.card[0])],
        "q": {
            CARD_NAMES[card]: {
                "mean": round(float(q[card]), 2),
                "error": round(float(error[card]), 2),
            }
            for card in np.flatnonzero(np.isfinite(q)).tolist()
        },
        "owners": {CARD_NAMES[card]: believed[card].round(3).tolist() for card in unseen},
    }
