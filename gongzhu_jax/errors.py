"""What can be wrong with data from outside. Every error of ours derives from `GongzhuError`."""

from collections.abc import Iterable


class GongzhuError(ValueError):
    """Base class: the message says what is wrong, in one line, for a person."""


class CardError(GongzhuError):
    """A card id or card name that does not exist."""


class DealError(GongzhuError):
    """A deal that is not 13 cards for each of four seats, or a seat that does not exist."""


class IllegalPlayError(GongzhuError):
    """A card that the rules, or what is known of the hands, do not allow at that point."""


class RecordError(GongzhuError):
    """A game record that cannot be read or does not replay."""


class PlayerError(GongzhuError):
    """An unknown player, or an option that the player does not have."""


class ConfigError(GongzhuError):
    """An unknown or impossible setting."""


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """`ConfigError` unless the setting `name` has one of these values."""
    if value not in choices:
        raise ConfigError(f"{name} must be one of {', '.join(choices)}, not {value!r}")


class CheckpointError(GongzhuError):
    """A checkpoint that is missing, damaged, or of another network or rules version."""


class ArenaError(GongzhuError):
    """A message to the arena that cannot be accepted; nothing has changed."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code  # one word for programs, listed in docs/arena.md


class MissingExtraError(GongzhuError, ImportError):
    """An optional package that is not installed; the message says which extra brings it."""
