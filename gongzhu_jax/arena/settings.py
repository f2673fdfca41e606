"""Settings and limits of an arena. The defaults suit a small public server."""

from dataclasses import dataclass, field
from typing import Any

from gongzhu_jax.errors import ConfigError


@dataclass(frozen=True)
class Limits:
    """What one client, and all of them together, may ask for."""

    connections: int = 1000
    tables: int = 500
    tables_per_connection: int = 64
    message_bytes: int = 4096
    messages_per_second: float = 100.0  # of one connection, in the long run
    message_burst: int = 400
    strikes: int = 200  # messages in a row above the rate before the connection is closed
    outgoing_messages: int = 2000  # waiting for one connection before it is closed
    analyses_waiting: int = 32
    match_deals: int = 4096
    requests_per_second: float = 20.0  # of one address, over HTTP, for calls that cost work
    request_burst: int = 200

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value <= 0:
                raise ConfigError(f"limit {name} must be positive, not {value}")


@dataclass(frozen=True)
class Settings:
    """An arena."""

    database: str = "arena.sqlite"
    move_seconds: float = 60.0  # for a move, unless the table says otherwise
    least_seconds: float = 1.0
    most_seconds: float = 600.0
    own_seconds: float = 180.0  # for a move of our players; compiling counts
    idle_seconds: float = 600.0  # after which a table where nothing happens is closed
    animation_seconds: float = 4.0  # to show people what was played, before their clock starts
    spectator_delay: float = 20.0  # seconds between a play and its being shown to spectators
    analyst: str = "scrofa-strong"  # whose opinion the analysis shows
    checkpoint: str | None = None  # of players with a network; None: the shipped weights
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not 0 < self.least_seconds <= self.move_seconds <= self.most_seconds:
            raise ConfigError("move_seconds must lie between least_seconds and most_seconds")
        if self.own_seconds <= 0 or self.idle_seconds <= 0:
            raise ConfigError("own_seconds and idle_seconds must be positive")

    def options(self, known: list[str]) -> dict[str, Any]:
        """Options for a player of ours that has the options `known`."""
        return {"checkpoint": self.checkpoint} if "checkpoint" in known else {}
