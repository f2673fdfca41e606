"""Version of the package; the rules have their own, `gongzhu_jax.game.RULES_VERSION`."""

__version__ = "0.1.0"
