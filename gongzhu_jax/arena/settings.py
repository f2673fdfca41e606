"""Settings and limits of an arena. The defaults suit a small public server."""

from dataclasses import dataclass, field
from typing import Any

from gongzhu_jax.errors import ConfigError


@dataclass(frozen=True)
class Limits:
    """What one client, one address, and all of them together, may ask for."""

    connections: int = 1000
    connections_per_address: int = 64
    sockets_per_address: int = 256  # for HTTP, silent ones too; a proxy on this machine has more
    hello_seconds: float = 10.0  # until a connection that has said nothing is closed
    request_seconds: float = 10.0  # until a half-sent HTTP request is closed
    tables: int = 500
    tables_per_connection: int = 64
    tables_per_address: int = 64
    message_bytes: int = 4096
    body_bytes: int = 4096  # of an HTTP request
    messages_per_second: float = 100.0  # of one connection, answers to turns not counted
    message_burst: int = 400
    outgoing_messages: int = 2000  # waiting for one connection before it is closed
    analyses_per_address: int = 1  # that wait or are being made
    opinions_per_address: int = 8  # HTTP requests for one that wait or are being answered
    analyses_waiting: int = 32
    requests_per_second: float = 20.0  # of one address, over HTTP
    request_burst: int = 200
    accounts_per_hour: float = 10.0  # of one address
    account_burst: int = 10
    account_days: float = 90.0  # after which a name that was never used is free again
    match_deals: int = 1024
    match_games: int = 4  # of one match at a time
    matches: int = 4  # that are played at a time
    matches_per_address: int = 2  # of these, so that one owner of many names leaves room
    matches_per_account: int = 4  # queued or played
    page: int = 100  # rows of a list
    download: int = 10_000  # games

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:  # NaN too
                raise ConfigError(f"limit {name} must be positive, not {value}")


@dataclass(frozen=True)
class Settings:
    """An arena."""

    database: str = "arena.sqlite"
    move_seconds: float = 60.0  # for a move, unless the table says otherwise
    least_seconds: float = 1.0
    most_seconds: float = 600.0
    match_seconds: float = 10.0  # for a move in a match
    absent_seconds: float = 300.0  # that a match waits for a program that has gone
    house_deals: int = 256  # of the match that connects one of our players with the anchor
    own_seconds: float = 180.0  # until the clock moves for one of our players
    own_least_seconds: float = 0.15  # every move of our players takes a random time of at least
    own_most_seconds: float = 0.3  # this and up to that, so that time tells nothing of their hands
    idle_seconds: float = 600.0  # after which a table where nothing happens is closed
    seat_seconds: float = 120.0  # that a seat between games waits for its client
    animation_seconds: float = 4.0  # to show people what was played, before their clock starts
    spectator_seconds: float = 20.0  # between a play and its being shown to spectators
    analyst: str = "scrofa-strong"  # whose opinion the analysis shows
    checkpoint: str | None = None  # of players with a network; None: the shipped weights
    prepare: bool | tuple[str, ...] = True  # our players to compile at the start; True: all
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not 0 < self.least_seconds <= self.move_seconds <= self.most_seconds:
            raise ConfigError("move_seconds must lie between least_seconds and most_seconds")
        if not 0 <= self.own_least_seconds <= self.own_most_seconds:
            raise ConfigError("own_least_seconds must lie between 0 and own_most_seconds")
        for name in (
            *("match_seconds", "absent_seconds", "own_seconds", "idle_seconds", "seat_seconds"),
            *("house_deals", "animation_seconds", "spectator_seconds"),
        ):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} must be positive, not {getattr(self, name)}")

    def options(self, known: list[str]) -> dict[str, Any]:
        """Options for a player of ours that has the options `known`."""
        return {"checkpoint": self.checkpoint} if "checkpoint" in known else {}
