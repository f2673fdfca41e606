"""What a client says, put to work: one text in, at most one direct answer out.

Everything that can be wrong with a text ends as an "error" message and has changed nothing.
"""

import time
from collections.abc import Coroutine
from typing import Any

from gongzhu_jax.arena import messages
from gongzhu_jax.arena.connection import Connection
from gongzhu_jax.arena.daily import SEAT as DAILY_SEAT
from gongzhu_jax.arena.hall import Hall
from gongzhu_jax.arena.people import People
from gongzhu_jax.arena.table import Table
from gongzhu_jax.errors import ArenaError


class Session:
    def __init__(self, hall: Hall, connection: Connection, people: People) -> None:
        self._hall = hall
        self._people = people
        self._connection = connection

    async def receive(self, text: str | bytes) -> None:
        try:
            self._check_load(text)
        except ArenaError as error:
            self._refuse(error, None)
            return
        try:
            message = messages.parse(text)
        except ArenaError as error:
            self._refuse(error, messages.id_of(text))
            return
        await self._answer(self._handle(message), message.id)

    async def _answer(self, work: Coroutine[Any, Any, None], message_id: Any) -> None:
        try:
            await work
        except ArenaError as error:
            self._refuse(error, message_id)

    def _refuse(self, error: ArenaError, message_id: Any) -> None:
        answer = {"type": "error", "code": error.code, "message": str(error)}
        self._connection.send({**answer, "id": message_id})

    def _check_load(self, text: str | bytes) -> None:
        limits, connection = self._hall.settings.limits, self._connection
        if not connection.rate.take(time.monotonic()):
            connection.strikes += 1
            if connection.strikes >= limits.strikes:
                connection.close()
            raise ArenaError("rate", f"more than {limits.messages_per_second:g} messages a second")
        connection.strikes = 0
        size = len(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else len(text)
        if size > limits.message_bytes:
            raise ArenaError("size", f"a message has at most {limits.message_bytes} bytes")

    async def _handle(self, message: messages.AnyMessage) -> None:
        connection, hall = self._connection, self._hall
        if isinstance(message, messages.Hello):
            await hall.hello(connection, message)
            return
        if connection.name is None:
            raise ArenaError("phase", "say hello first")
        match message:
            case messages.Ping():
                connection.send({"type": "pong", "id": message.id})
            case messages.Create():
                at = await hall.create(connection, message)
                hall.take_seat(connection, at, message.seat, message.id)
            case messages.Sit():
                at = hall.find(message.table)
                at.check_invitation(message.invitation)
                hall.take_seat(connection, at, message.seat, message.id)
            case messages.Daily():
                at = await self._people.daily.create_table(connection)
                hall.take_seat(connection, at, DAILY_SEAT, message.id)
                self._people.daily.seated(at)
            case messages.Reconnect():
                at = hall.find(message.table)
                hall.return_to(connection, at, message.seat, message.token, message.id)
            case messages.Analyse():
                # Not waited for: its player may move before the answer is there.
                hall.spawn(self._answer(self._analyse(self._own(message), message), message.id))
            case _:
                self._handle_quick(message)
                self._accept(message)

    def _handle_quick(self, message: messages.AnyMessage) -> None:
        """Messages that are answered, if at all, by "ok" alone."""
        hall, now = self._hall, time.monotonic()
        match message:
            case messages.Ready():
                at = self._own(message)
                hall.apply(at, at.ready(message.seat, now))
            case messages.Play():
                at = self._own(message)
                card = int(message.card)
                hall.apply(at, at.play(message.seat, message.stage, card, now))
            case messages.Leave():
                hall.leave(self._connection, self._own(message), message.seat)
            case messages.Available():
                hall.offer(self._connection, message.games)
            case messages.Lobby():
                self._people.table_list.subscribe(self._connection, on=message.on)
            case messages.Watch():
                at = hall.find(message.table)
                at.check_invitation(message.invitation)
                self._people.spectators.watch(self._connection, at, now)
            case messages.Unwatch():
                self._people.spectators.unwatch(self._connection)

    async def _analyse(self, at: Table, message: messages.Analyse) -> None:
        found = await self._hall.analyse(at, message.seat, message.stage)
        self._connection.send({**found, "id": message.id})

    def _accept(self, message: messages.AnyMessage) -> None:
        if message.id is not None:
            self._connection.send({"type": "ok", "id": message.id})

    def _own(self, message: messages.AtTable) -> Table:
        """The table, if this client sits where it says."""
        at = self._hall.find(message.table)
        if (message.table, message.seat) not in self._connection.seats:
            raise ArenaError("forbidden", f"seat {message.seat} is not yours here")
        return at
