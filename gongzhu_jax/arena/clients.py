"""Who is connected to an arena: connections, their addresses, names and seats."""

import asyncio
import time
from typing import Any

from gongzhu_jax.arena import messages
from gongzhu_jax.arena.connection import Connection, to_text
from gongzhu_jax.arena.names import check_not_ours
from gongzhu_jax.arena.rates import Shares
from gongzhu_jax.arena.settings import Settings
from gongzhu_jax.arena.store import Store
from gongzhu_jax.errors import ArenaError
from gongzhu_jax.game.cards import NUM_SEATS


class Clients:
    def __init__(self, settings: Settings, store: Store) -> None:
        self.connections: set[Connection] = set()
        self.programs: dict[str, Connection] = {}  # by name: those that take part in matches
        self._settings = settings
        self._store = store
        self._seated: dict[tuple[str, int], Connection] = {}
        self._per_address = Shares(
            settings.limits.connections_per_address,
            "full",
            "too many connections from your address",
        )

    def connect(self, address: str) -> Connection:
        limits = self._settings.limits
        if len(self.connections) >= limits.connections:
            raise ArenaError("full", "too many connections; try again later")
        self._per_address.take(address)
        connection = Connection(limits, address, time.monotonic())
        self.connections.add(connection)
        return connection

    def disconnect(self, connection: Connection) -> list[tuple[str, int]]:
        """Forgets a connection; the seats that it had."""
        self.connections.discard(connection)
        self._per_address.give_back(connection.address)
        connection.close()
        self.withdraw(connection)
        seats = list(connection.seats)
        for table_id, seat in seats:
            self.unbind(table_id, seat)
        return seats

    async def identify(self, connection: Connection, message: messages.Hello) -> None:
        """Gives a connection its name. `ArenaError` if it cannot have it; it may try again."""
        if message.protocol != messages.PROTOCOL:
            raise ArenaError("protocol", f"this server speaks protocol {messages.PROTOCOL}")
        if connection.name is not None:
            raise ArenaError("phase", "hello was said already")
        check_not_ours(message.name)
        accounts = self._store.accounts
        registered = await asyncio.to_thread(accounts.lookalike, message.name)
        if registered is not None and (
            registered != message.name
            or not await asyncio.to_thread(accounts.owns, message.name, message.token or "")
        ):
            raise ArenaError("forbidden", "that name, or one like it, belongs to another token")
        if registered is None and message.token is not None:
            raise ArenaError("forbidden", "that name is not registered")
        if connection.name is not None:
            raise ArenaError("phase", "hello was said already")
        connection.name, connection.registered = message.name, registered is not None
        connection.turns_only = message.turns_only

    # programs

    def offer(self, connection: Connection, games: int, *, challenges: bool) -> None:
        """A registered program takes part in matches, or, with 0 games, no longer does."""
        if connection.name is None or not connection.registered:
            raise ArenaError("forbidden", "only registered names take part in matches")
        connection.games_offered, connection.challenges = games, challenges
        if games == 0:
            self.withdraw(connection)
        else:
            self.programs[connection.name] = connection

    def withdraw(self, connection: Connection) -> None:
        if connection.name is not None and self.programs.get(connection.name) is connection:
            del self.programs[connection.name]

    # seats

    def bind(self, connection: Connection, table_id: str, seat: int) -> None:
        """What is said to a seat goes to this connection; an older one loses it."""
        older = self._seated.get((table_id, seat))
        if older is not None and older is not connection:
            older.seats.discard((table_id, seat))
            older.send({"type": "replaced", "table": table_id, "seat": seat})
        self._seated[table_id, seat] = connection
        connection.seats.add((table_id, seat))

    def unbind(self, table_id: str, seat: int) -> None:
        connection = self._seated.pop((table_id, seat), None)
        if connection is not None:
            connection.seats.discard((table_id, seat))

    def check_seats(self, connection: Connection) -> None:
        if len(connection.seats) >= self._settings.limits.tables_per_connection:
            raise ArenaError("full", "this connection has as many seats as it may")

    def send(
        self, table_id: str, seat: int | None, message: dict[str, Any], *, essential: bool
    ) -> None:
        """Sends to one seat or, once to each client, to all seats of a table."""
        seats = range(NUM_SEATS) if seat is None else [seat]
        there = {self._seated.get((table_id, seat)) for seat in seats}
        listening = [
            connection
            for connection in there
            if connection is not None and (essential or not connection.turns_only)
        ]
        text = to_text(message) if listening else ""
        for connection in listening:
            connection.push(text)
