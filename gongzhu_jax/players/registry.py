"""Players by name: the one list of all of them, with their options.

A player from outside is named by the place of its factory, "module:function", or by the entry point
of an installed package.
"""

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gongzhu_jax import runtime
from gongzhu_jax.errors import PlayerError
from gongzhu_jax.players import (
    distilled,
    greed,
    options,
    outside,
    random,
    rule_based,
    scrofazero,
)
from gongzhu_jax.players.protocol import Player


@dataclass(frozen=True)
class Entry:
    """How a player is made."""

    config: Any  # its default options, a frozen dataclass
    make: Callable[..., Player]  # (config, **files) -> player
    files: tuple[str, ...] = ()  # further options, which name weights files or checkpoints
    own_files: tuple[str, ...] = ()  # those of them that fit no other player


PLAYERS: dict[str, Entry] = {
    "random": Entry(random.NoOptions(), random.make),
    "if": Entry(random.NoOptions(), rule_based.make),
    "greed": Entry(greed.GreedConfig(), greed.make),
    **{
        name: Entry(config, functools.partial(scrofazero.make, name), scrofazero.files(name))
        for name, config in scrofazero.PRESETS.items()
    },
    "distilled": Entry(
        distilled.DistilledPlayerConfig(), distilled.make, ("checkpoint",), ("checkpoint",)
    ),
}

_ADAPTED = {"openspiel-ismcts": "gongzhu_jax.adapters.openspiel_player"}
"""Players that need an extra: name -> the module with its default options, CONFIG, and `make`.

By name, since adapters are a layer above this one, and imported when such a player is asked for.
"""


def names() -> list[str]:
    """Names of all players: ours, those that need an extra, and those of installed packages."""
    return list(dict.fromkeys([*PLAYERS, *_ADAPTED, *outside.entry_points()]))


def option_names(name: str) -> list[str]:
    """What `make` accepts for a player, such as "scenarios.draws" or "checkpoint"."""
    if (factory := _factory(name)) is not None:
        return outside.option_names(factory)
    entry = find_entry(name)
    return [*options.names(entry.config), *entry.files]


def make(name: str, **chosen: Any) -> Player:
    """A player by name with options, e.g. `make("greed", samples=40)`,
    `make("scrofa", scenarios={"draws": 27})` or `make("scrofa", **{"scenarios.draws": 27})`; or
    one of your own, `make("my_module:my_factory", risk=3)`. Their compiled programs are kept for
    the next start (`runtime.use_compilation_cache`).

    Raises:
      PlayerError: no such player or option; the message lists those there are.
      MissingExtraError: the player is of a library that is not installed.
    """
    runtime.use_compilation_cache()
    if (factory := _factory(name)) is not None:
        return outside.make(factory, None if factory == name else name, **chosen)
    entry = find_entry(name)
    files = {option: chosen.pop(option) for option in entry.files if option in chosen}
    return entry.make(options.updated(entry.config, chosen, name, also=entry.files), **files)


def add(name: str, factory: str) -> None:
    """Gives the player of a factory a name in this process, as the entry point of an installed
    package does. `PlayerError` if there is no such factory, or the name is one of ours."""
    if name in PLAYERS or name in _ADAPTED:
        raise PlayerError(f"{name!r} is the name of one of our players")
    outside.option_names(factory)  # imports it
    outside.entry_points()[name] = factory


def _factory(name: str) -> str | None:
    """The place of the factory of a player from outside; None for our players, whose names no
    installed package can take."""
    if name in PLAYERS or name in _ADAPTED:
        return None
    return name if ":" in name else outside.entry_points().get(name)


def find_entry(name: str) -> Entry:
    """How one of our players is made; `PlayerError` if it is none of them."""
    if name in _ADAPTED:
        module = importlib.import_module(_ADAPTED[name])
        return Entry(module.CONFIG, module.make)
    try:
        return PLAYERS[name]
    except KeyError:
        raise PlayerError(
            f"unknown player {name!r}; there are {', '.join(names())}, and module:function for one "
            "of your own"
        ) from None
