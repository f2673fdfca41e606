"""Players by name: the one list of all of them, with their options."""

import dataclasses
import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any

from gongzhu_jax.errors import PlayerError
from gongzhu_jax.players import greedy, rule_based, scrofazero, uniform
from gongzhu_jax.players.protocol import Player

_Entry = tuple[Sequence[str], Callable[..., Player]]


def _from_config(config: Any, make_player: Callable[[Any], Player]) -> _Entry:
    """A player whose options are the fields of one dataclass."""
    options = [field.name for field in dataclasses.fields(config)]
    # One object for equal options, so that what was compiled for it is found again.
    made = functools.cache(make_player)
    return options, lambda **chosen: made(config(**chosen))


_PLAYERS: dict[str, _Entry] = {
    "random": _from_config(uniform.UniformConfig, uniform.make),
    "if": _from_config(rule_based.RuleBasedConfig, rule_based.make),
    "greed": _from_config(greedy.GreedyConfig, greedy.make),
    **{
        name: (scrofazero.option_names(name), functools.partial(scrofazero.make, name))
        for name in scrofazero.NAMES
    },
}
"""name -> names of its options, and the function that makes it from them."""

_ADAPTED = {
    "openspiel-ismcts": "gongzhu_jax.adapters.openspiel_player",
    "openspiel-random": "gongzhu_jax.adapters.openspiel_player",
}
"""Players that need an extra: name -> the module that has it in its PLAYERS.

By name, since adapters are a layer above this one, and imported when such a player is asked for.
"""


def names() -> list[str]:
    """Names of all players; those at the end need an extra."""
    return [*_PLAYERS, *_ADAPTED]


def option_names(name: str) -> list[str]:
    """What `make` accepts for a player."""
    return list(_entry(name)[0])


def make(name: str, **options: Any) -> Player:
    """A player by name, e.g. `make("greed", samples=40)`.

    Raises:
      PlayerError: no such player or option; the message lists those there are.
      MissingExtraError: the player is of a library that is not installed.
    """
    known, make_player = _entry(name)
    if unknown := sorted(set(options) - set(known)):
        raise PlayerError(
            f"player {name!r} has no option {unknown[0]!r}; there are {', '.join(known) or 'none'}"
        )
    return make_player(**options)


def _entry(name: str) -> _Entry:
    if name in _ADAPTED:
        return _adapted_entry(name)
    try:
        return _PLAYERS[name]
    except KeyError:
        raise PlayerError(f"unknown player {name!r}; there are {', '.join(names())}") from None


@functools.cache
def _adapted_entry(name: str) -> _Entry:
    return _from_config(*importlib.import_module(_ADAPTED[name]).PLAYERS[name])
