"""The seats of a table and how a table is run."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gongzhu_jax.errors import ArenaError


@dataclass
class Seat:
    """A place at the table: of one of our players, of a client with a token, or free."""

    player: str | None = None  # name of our player
    name: str | None = None  # of the client
    token: str | None = None
    ready: bool = False
    connected: bool = False
    left: float = 0.0  # when the client was last seen, if it is not connected

    @property
    def free(self) -> bool:
        return self.player is None and self.token is None

    @property
    def label(self) -> str | None:
        return self.player or self.name

    def take(self, name: str) -> str:
        """Gives the seat to a client; the token that owns it from now on."""
        self.name, self.token = name, secrets.token_urlsafe(16)
        self.ready, self.connected = False, True
        return self.token

    def clear(self) -> None:
        self.name = self.token = None
        self.ready = self.connected = False

    def check_owner(self, token: str) -> None:
        """`ArenaError` unless the seat belongs to the token."""
        if self.token is None or not secrets.compare_digest(
            self.token.encode(), token.encode("utf-8", "surrogatepass")
        ):
            raise ArenaError("forbidden", "that token does not own this seat")

    def summary(self) -> dict[str, Any]:
        """What anybody may know of the seat."""
        return {
            "name": self.label,
            "kind": "player" if self.player else "client" if self.token else "free",
            "ready": self.ready,
            "connected": self.connected,
        }


def place_of(seats: Sequence[Seat], seat: int) -> Seat:
    """The place of that number, which may come from outside."""
    if not 0 <= seat < len(seats):
        raise ArenaError("seat", f"a seat is a number from 0 to 3, not {seat}")
    return seats[seat]


def clients(seats: Sequence[Seat]) -> list[int]:
    """The numbers of the seats that clients have."""
    return [number for number, place in enumerate(seats) if place.token]


@dataclass(frozen=True)
class TableRules:
    """How a table is run. Stored with the table, so every field must be plain."""

    move_seconds: float
    own_seconds: float
    idle_seconds: float  # a table where nothing happens, or whose game nobody attends, is closed
    seat_seconds: float = 120.0  # that a seat between games waits for its client
    analysis: bool = False
    games: int | None = None  # after which it closes; None: as long as players are ready
    match: int | None = None
    invitation: str | None = None  # needed to sit down or watch; such a table is not listed
    daily: str | None = None  # the day whose deal is played here
    animation_seconds: float = 0.0  # before the clock of a move starts, to show what was played

    def check_invitation(self, invitation: str | None) -> None:
        """`ArenaError` unless somebody with this invitation may sit down or watch."""
        given = (invitation or "").encode("utf-8", "surrogatepass")
        if self.invitation and not secrets.compare_digest(self.invitation.encode(), given):
            raise ArenaError("forbidden", "this table is private: its invitation is needed")

    def summary(self) -> dict[str, Any]:
        """What anybody may know of the rules."""
        return {
            "seconds": self.move_seconds,
            "private": self.invitation is not None,
            "daily": self.daily,
            "analysis": self.analysis,
            "match": self.match,
        }
