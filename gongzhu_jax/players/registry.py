"""Players by name: the one list of all of them, with their options."""

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gongzhu_jax.errors import PlayerError
from gongzhu_jax.players import greed, options, random, rule_based, scrofazero
from gongzhu_jax.players.protocol import Player


@dataclass(frozen=True)
class Entry:
    """How a player is made."""

    config: Any  # its default options, a frozen dataclass
    make: Callable[..., Player]  # (config, **files) -> player
    files: tuple[str, ...] = ()  # further options, which name weights files or checkpoints


PLAYERS: dict[str, Entry] = {
    "random": Entry(random.RandomConfig(), random.make),
    "if": Entry(rule_based.RuleBasedConfig(), rule_based.make),
    "greed": Entry(greed.GreedConfig(), greed.make),
    **{
        name: Entry(config, functools.partial(scrofazero.make, name), scrofazero.files(name))
        for name, config in scrofazero.PRESETS.items()
    },
}

_ADAPTED = {"openspiel-ismcts": "gongzhu_jax.adapters.openspiel_player"}
"""Players that need an extra: name -> the module with its default options, CONFIG, and `make`.

By name, since adapters are a layer above this one, and imported when such a player is asked for.
"""


def names() -> list[str]:
    """Names of all players; those at the end need an extra."""
    return [*PLAYERS, *_ADAPTED]


def option_names(name: str) -> list[str]:
    """What `make` accepts for a player, such as "scenarios.draws" or "checkpoint"."""
    entry = _entry(name)
    return [*options.names(entry.config), *entry.files]


def make(name: str, **chosen: Any) -> Player:
    """A player by name with options, e.g. `make("greed", samples=40)`,
    `make("scrofa", scenarios={"draws": 27})` or `make("scrofa", **{"scenarios.draws": 27})`.

    Raises:
      PlayerError: no such player or option; the message lists those there are.
      MissingExtraError: the player is of a library that is not installed.
    """
    entry = _entry(name)
    files = {option: chosen.pop(option) for option in entry.files if option in chosen}
    return entry.make(options.updated(entry.config, chosen, name, also=entry.files), **files)


def _entry(name: str) -> Entry:
    if name in _ADAPTED:
        module = importlib.import_module(_ADAPTED[name])
        return Entry(module.CONFIG, module.make)
    try:
        return PLAYERS[name]
    except KeyError:
        raise PlayerError(f"unknown player {name!r}; there are {', '.join(names())}") from None
