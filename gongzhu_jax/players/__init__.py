"""Players: the classical ones of the paper, ScrofaZero (sections 4 and 5), and those of others."""

from gongzhu_jax.players.explanation import explain
from gongzhu_jax.players.plain import from_function
from gongzhu_jax.players.protocol import Player
from gongzhu_jax.players.registry import add, make, names, option_names
from gongzhu_jax.players.scrofazero import from_network

__all__ = [
    "Player",
    "add",
    "explain",
    "from_function",
    "from_network",
    "make",
    "names",
    "option_names",
]
