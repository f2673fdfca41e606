"""What a change of a table asks its caller to carry out, in order."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gongzhu_jax.records import Record


class Phase(StrEnum):
    WAITING = "waiting"  # for seats to be taken, or for players to be ready
    PREPARING = "preparing"  # the same, and programs of our players are still being compiled
    PLAYING = "playing"
    RECORDING = "recording"  # the game is over and on its way to storage
    CLOSED = "closed"


class By(StrEnum):
    """Who chose a card."""

    SEAT = "seat"
    CLOCK = "clock"  # the time was up: the lowest legal card
    FAULT = "fault"  # one of our players failed: the lowest legal card


@dataclass(frozen=True)
class Send:
    """A message to one seat, or to all seats with a client, which makes it public."""

    seat: int | None
    message: dict[str, Any]
    essential: bool = True  # False: clients that asked for turns only do not get it


@dataclass(frozen=True)
class Ask:
    """One of our players has to choose a card."""

    player: str
    seat: int
    stage: int


@dataclass(frozen=True)
class Save:
    """Seats, totals or the deal have changed: the table is to be stored as it is now."""


@dataclass(frozen=True)
class SavePlay:
    """A card was played: it is to be stored, so that the game outlives the process."""

    stage: int
    card: int
    by: By


@dataclass(frozen=True)
class StoreGame:
    """A game is over. `Table.recorded` must be called when it is stored."""

    record: Record


@dataclass(frozen=True)
class Closed:
    """The table is no more; `unfinished` says whether a game was lost with it."""

    reason: str
    unfinished: bool


Effect = Send | Ask | Save | SavePlay | StoreGame | Closed
