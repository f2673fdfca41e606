"""What a searching player thinks of a position, in plain types."""

from typing import Any

import jax

from gongzhu_jax.game import PublicView
from gongzhu_jax.players import Player, explain


def opinion(player: Player, key: jax.Array, view: PublicView) -> dict[str, Any]:
    """Its card, Q of each legal card (points for its team at the end; none where it is forced),
    and for the point cards it does not see the probability of each seat."""
    explanation = explain(player, view, key)
    return {
        "player": explanation["player"],
        "card": explanation["card"],
        "q": {
            row["card"]: {"mean": round(row["q"], 2), "error": round(row["standard_error"], 2)}
            for row in explanation["candidates"]
        },
        "owners": explanation["believed_owners"],
    }
