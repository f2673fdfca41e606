"""Mr. Greed: `player` draws deals and picks the card, `batch` and `trick_value` value the trick."""

from gongzhu_jax.players.greed.player import GreedConfig, make

__all__ = ["GreedConfig", "make"]
