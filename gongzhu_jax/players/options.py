"""Options of players: fields of nested dataclasses, set by nested mappings or dotted names."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from gongzhu_jax.errors import ConfigError, PlayerError

C = TypeVar("C")


def names(config: Any, prefix: str = "") -> list[str]:
    """Dotted names of all options, such as "scenarios.draws"."""
    dotted = []
    for field in fields(config):
        value = getattr(config, field.name)
        name = prefix + field.name
        dotted += names(value, f"{name}.") if is_dataclass(value) else [name]
    return dotted


def updated(
    config: C, options: Mapping[str, Any], player: str, prefix: str = "", also: Iterable[str] = ()
) -> C:
    """`config` with `options`: {"weights.beta": 0.02} or {"weights": {"beta": 0.02}}.

    Args:
      player: its name, for messages.
      also: options that the caller has dealt with itself, for messages.

    Raises:
      PlayerError: there is no such option; the message lists those there are at that level.
      ConfigError: a value of another type than the default's, or an impossible one.
    """
    known = {field.name: getattr(config, field.name) for field in fields(config)}  # ty: ignore[invalid-argument-type]
    changes: dict[str, Any] = {}
    for name, value in _by_first_part(options, prefix).items():
        full = prefix + name
        if name not in known:
            there_are = ", ".join(prefix + other for other in (*known, *also)) or "none"
            raise PlayerError(f"player {player!r} has no option {full!r}; there are {there_are}")
        if is_dataclass(known[name]):
            if not isinstance(value, Mapping):
                inside = ", ".join(f"{full}.{field.name}" for field in fields(known[name]))
                raise PlayerError(f"{full!r} is a group of options, {inside}; not {value!r}")
            changes[name] = updated(known[name], value, player, f"{full}.")
        else:
            changes[name] = _checked(full, value, known[name])
    return replace(config, **changes)  # ty: ignore[invalid-argument-type]


def _by_first_part(options: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Options by the first part of their names; those of one group together."""
    parts: dict[str, Any] = {}
    for name, value in options.items():
        first, _, rest = name.partition(".")
        value = {rest: value} if rest else value
        if first not in parts:
            parts[first] = dict(value) if isinstance(value, Mapping) else value
        elif isinstance(value, Mapping) and isinstance(parts[first], dict):
            if twice := sorted(parts[first].keys() & value.keys()):
                raise PlayerError(f"option '{prefix}{first}.{twice[0]}' is set twice")
            parts[first] |= value
        else:
            raise PlayerError(f"option {prefix + first!r} is set twice")
    return parts


def _checked(name: str, value: Any, default: Any) -> Any:
    wanted = type(default)
    if wanted is float and type(value) is int:
        return float(value)
    if default is not None and type(value) is not wanted:
        raise ConfigError(f"{name} must be of type {wanted.__name__}, not {value!r}")
    return value
