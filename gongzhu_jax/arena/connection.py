"""One client of the arena, as the lobby sees it: who it is, where it sits, what waits for it."""

import asyncio
from typing import Any

from pydantic_core import to_json

from gongzhu_jax.arena.rates import Rate
from gongzhu_jax.arena.settings import Limits

SeatKey = tuple[str, int]
"""(table id, seat)"""


def to_text(message: dict[str, Any]) -> str:
    # Written for every card that is played; the standard library takes four times as long.
    return to_json(message).decode()


class Connection:
    def __init__(self, limits: Limits, address: str, now: float) -> None:
        self.address = address
        self.name: str | None = None  # set by "hello"
        self.registered = False
        self.turns_only = False
        self.games_offered = 0  # of one match, at the same time
        self.challenges = False  # whether others may start matches with it
        self.seats: set[SeatKey] = set()
        self.outgoing: asyncio.Queue[str | None] = asyncio.Queue(limits.outgoing_messages + 1)
        self.rate = Rate(limits.messages_per_second, limits.message_burst, now)
        self.closed = False
        self._most = limits.outgoing_messages

    def push(self, text: str) -> None:
        """Queues a message; a client that does not read is closed, and may come back."""
        if self.closed:
            return
        if self.outgoing.qsize() >= self._most:
            self.close()
        else:
            self.outgoing.put_nowait(text)

    def send(self, message: dict[str, Any]) -> None:
        self.push(to_text(message))

    def close(self) -> None:
        """Ends the connection when what was queued before is sent."""
        if not self.closed:
            self.closed = True
            self.outgoing.put_nowait(None)
