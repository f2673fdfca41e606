"""gongzhu_jax: learning and playing Gongzhu, a trick-taking game with hidden hands, on JAX."""

from gongzhu_jax.version import __version__

__all__ = ["__version__"]
