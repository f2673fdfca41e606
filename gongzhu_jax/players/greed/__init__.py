"""Mr. Greed: `player` draws deals and picks the card, `batch` and `trick_value` value the trick."""

from gongzhu_jax.players.greed.player import (
    MAX_ENUMERATED,
    GreedConfig,
    make,
    totals,
    totals_batch,
)

__all__ = ["MAX_ENUMERATED", "GreedConfig", "make", "totals", "totals_batch"]
