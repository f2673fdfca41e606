"""Players from outside the package, by the place of their factory: "module:function".

A factory takes the player's options as keywords. It returns a `Player`, or a function of a plain
view to a card, from which a player is made. Installed packages give such players a name with an
entry point of the group `gongzhu_jax.players`.
"""

import dataclasses
import functools
import hashlib
import importlib
import importlib.metadata
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gongzhu_jax.errors import PlayerError
from gongzhu_jax.players.plain import from_function
from gongzhu_jax.players.protocol import Player

GROUP = "gongzhu_jax.players"


@dataclasses.dataclass(frozen=True)
class OutsideConfig:
    """Everything that tells one outside player from another, for records and kept results."""

    factory: str  # "module:function"
    options: tuple[tuple[str, Any], ...]  # sorted by name
    source: str  # SHA-256 of the file of the module: an edited player is another player
    config: Any = None  # that of the player itself, where it has one


@functools.cache
def entry_points() -> dict[str, str]:
    """Players of installed packages: name -> "module:function"."""
    return {point.name: point.value for point in importlib.metadata.entry_points(group=GROUP)}


def option_names(factory: str) -> list[str]:
    """Names of the keywords that a factory takes."""
    return list(inspect.signature(_load(factory)).parameters)


def make(factory: str, name: str | None = None, **options: Any) -> Player:
    """The player of a factory, called `name`, by default what the factory calls it.

    Raises:
      PlayerError: the factory cannot be imported, does not take the options, fails, or returns
        something else than a player.
    """
    function = _load(factory)
    try:
        inspect.signature(function).bind(**options)
    except TypeError as error:
        known = ", ".join(option_names(factory)) or "none"
        raise PlayerError(f"player {factory!r}: {error}; its options are {known}") from None
    try:
        made = function(**options)
    except Exception as error:
        raise PlayerError(f"player {factory!r} failed: {type(error).__name__}: {error}") from error
    module = sys.modules[factory.partition(":")[0]]
    about = OutsideConfig(factory, tuple(sorted(options.items())), _digest(module))
    if isinstance(made, Player):
        about = dataclasses.replace(about, config=made.config)
        return dataclasses.replace(made, name=name or made.name, config=about)
    if callable(made):
        return from_function(made, name or factory.partition(":")[0], config=about)
    raise PlayerError(
        f"player {factory!r} must return a Player or a function of a view, not {made!r}"
    )


def _load(factory: str) -> Callable[..., Any]:
    module_name, _, attribute = factory.partition(":")
    if not module_name or not attribute:
        raise PlayerError(f"a player from outside is module:function, not {factory!r}")
    # Commands that were installed do not look into the folder in which they are started.
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise PlayerError(
            f"player {factory!r}: cannot import {module_name}: {type(error).__name__}: {error}"
        ) from error
    function = getattr(module, attribute, None)
    if not callable(function):
        raise PlayerError(f"player {factory!r}: {module_name} has no function {attribute!r}")
    return function


def _digest(module: Any) -> str:
    path = getattr(module, "__file__", None)
    return hashlib.sha256(Path(path).read_bytes()).hexdigest() if path else ""
