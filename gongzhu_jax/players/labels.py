"""Players with a label and options, `scrofa-strong@64`: the name of a player, and after @ what
tells this one from others of the same name."""

from collections.abc import Iterable, Mapping
from typing import Any

from gongzhu_jax.errors import PlayerError
from gongzhu_jax.players import registry
from gongzhu_jax.players.protocol import Player

Options = Mapping[str, Any]


def player_name(label: str) -> str:
    """The name of the player that a label is about."""
    return label.partition("@")[0]


def make_labelled(
    label: str, options: Mapping[str, Options], shared: Options | None = None
) -> Player:
    """The player of a label.

    Args:
      label: the name of a player, or `name@label`, which must then have options.
      options: by label.
      shared: options of all players that have them, such as the checkpoint of those that search;
        None values and those that the player's own options set are passed over.
    """
    name = player_name(label)
    known = {option.partition(".")[0] for option in registry.option_names(name)}
    if "@" in label and label not in options:
        raise PlayerError(f"{label!r} has no options: say what tells it from {name!r}")
    own = dict(options.get(label) or {})
    entry = registry.PLAYERS.get(name)
    known.difference_update(entry.own_files if entry else ())
    for option, value in (shared or {}).items():
        if value is not None and option in known:
            own.setdefault(option, value)
    return registry.make(name, **own)


def check_labels(labels: Iterable[str], options: Mapping[str, Options]) -> None:
    """`PlayerError` for a label named twice, or options of a label that is not there."""
    labels = list(labels)
    if len(set(labels)) < len(labels):
        raise PlayerError(f"a player is named twice in {', '.join(labels)}")
    for label in options:
        if label not in labels:
            raise PlayerError(f"options of {label!r}, who is not among {', '.join(labels)}")
