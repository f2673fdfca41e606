"""What a searching player thinks of a position, as messages and reports have it."""

from typing import Any

import jax

from gongzhu_jax.game import PublicView
from gongzhu_jax.players import Player
from gongzhu_jax.players.explanation import explain

_NAMES = {
    "mean": "q",
    "error": "standard_error",
    "regret": "regret",
    "regret_error": "regret_error",
}
"""Names in messages, and in `explain`."""


def opinion(player: Player, key: jax.Array, view: PublicView) -> dict[str, Any]:
    """Its card, Q of each legal card (points for its team at the end; none where it is forced) and
    by how much it is below that of its card, with standard errors, and for the point cards it
    does not see the probability of each seat."""
    why = explain(player, view, key)
    return {
        "player": why["player"],
        "card": why["card"],
        "q": {
            candidate["card"]: {name: round(candidate[of], 2) for name, of in _NAMES.items()}
            for candidate in why["candidates"]
        },
        "owners": why["believed_owners"],
    }
