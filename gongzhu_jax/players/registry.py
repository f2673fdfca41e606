"""Players by name: `make("greed", samples=10)`."""

import functools
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from gongzhu_jax.errors import PlayerError
from gongzhu_jax.players import greedy, rule_based, scrofazero, uniform
from gongzhu_jax.players.protocol import Player

# The classical players: the type of their options, and what makes a player of them.
_CLASSICAL: dict[str, tuple[type, Callable[[Any], Player]]] = {
    "random": (uniform.UniformConfig, uniform.make),
    "if": (rule_based.RuleBasedConfig, rule_based.make),
    "greed": (greedy.GreedyConfig, greedy.make),
}


def names() -> tuple[str, ...]:
    """All players that `make` knows."""
    return (*_CLASSICAL, *scrofazero.NAMES)


def option_names(name: str) -> list[str]:
    """The options of a player, which `make` takes by keyword."""
    if name in _CLASSICAL:
        return [field.name for field in fields(_CLASSICAL[name][0])]
    if name in scrofazero.NAMES:
        return scrofazero.option_names(name)
    raise PlayerError(f"unknown player {name!r}; there are {', '.join(names())}")


def make(name: str, **options: Any) -> Player:
    """The player of that name; `PlayerError` if there is none, or no such option."""
    known = option_names(name)
    if unknown := sorted(set(options) - set(known)):
        there_are = f"there are {', '.join(known)}" if known else "there are none"
        raise PlayerError(f"player {name!r} has no option {unknown[0]!r}; {there_are}")
    if name in _CLASSICAL:
        return _classical(name, _CLASSICAL[name][0](**options))
    return scrofazero.make(name, **options)


@functools.cache
def _classical(name: str, config: Any) -> Player:
    # One object for equal settings, so that what was compiled for it is found again.
    return _CLASSICAL[name][1](config)
