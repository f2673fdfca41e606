"""What a client says, put to work: one text in, at most one direct answer out.

Everything that can be wrong with a text ends as an "error" message and has changed nothing.
"""

import secrets
import time
from collections.abc import Coroutine
from typing import Any

from gongzhu_jax.arena import messages
from gongzhu_jax.arena.connection import Connection
from gongzhu_jax.arena.daily import SEAT as DAILY_SEAT
from gongzhu_jax.arena.lobby import Lobby
from gongzhu_jax.arena.people import People
from gongzhu_jax.arena.position import position
from gongzhu_jax.arena.rates import Shares
from gongzhu_jax.arena.table import Table
from gongzhu_jax.arena.table_messages import seated_message
from gongzhu_jax.errors import ArenaError


class Session:
    def __init__(
        self, lobby: Lobby, connection: Connection, analyses: Shares, people: People
    ) -> None:
        self._lobby = lobby
        self._people = people
        self._connection = connection
        self._analyses = analyses  # by address

    async def receive(self, text: str | bytes) -> float:
        """Answers a message; how many seconds to wait before the next one is read."""
        self._connection.rate.charge()
        try:
            self._check_size(text)
            message = messages.parse(text)
        except ArenaError as error:
            self._refuse(error, None if error.code == "size" else messages.id_of(text))
        else:
            self._lobby.metrics.messages.labels(message.type).inc()
            await self._answer(self._handle(message), message.id)
        return self._connection.rate.wait(time.monotonic())

    async def _answer(self, work: Coroutine[Any, Any, None], message_id: Any) -> None:
        try:
            await work
        except ArenaError as error:
            self._refuse(error, message_id)

    def _refuse(self, error: ArenaError, message_id: Any) -> None:
        self._lobby.metrics.errors.labels(error.code).inc()
        answer = {"type": "error", "code": error.code, "message": str(error)}
        self._connection.send({**answer, "id": message_id})

    def _check_size(self, text: str | bytes) -> None:
        most = self._lobby.settings.limits.message_bytes
        size = len(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else len(text)
        if size > most:
            raise ArenaError("size", f"a message has at most {most} bytes")

    async def _handle(self, message: messages.AnyMessage) -> None:
        connection, lobby = self._connection, self._lobby
        if isinstance(message, messages.Hello):
            await lobby.clients.identify(connection, message)
            self._welcome(message)
            return
        if connection.name is None:
            raise ArenaError("phase", "say hello first")
        match message:
            case messages.Ping():
                connection.send({"type": "pong", "id": message.id})
            case messages.Create():
                self._take_seat(self._create(message), message.seat, message.id)
            case messages.Sit():
                at = lobby.find(message.table)
                at.rules.check_invitation(message.invitation)
                self._take_seat(at, message.seat, message.id)
            case messages.Daily():
                lobby.clients.check_seats(connection)
                at = await self._people.daily.create_table(connection)
                self._take_seat(at, DAILY_SEAT, message.id)
                self._people.daily.seated(at)
            case messages.Reconnect():
                at = lobby.find(message.table)
                self._return(at, message.seat, message.token, message.id)
            case messages.Analyse():
                # Not waited for: its player may move before the answer is there.
                at = self._own(message)
                lobby.spawn(self._answer(self._analyse(at, message), message.id))
            case _:
                self._handle_quick(message)
                self._accept(message)

    def _handle_quick(self, message: messages.AnyMessage) -> None:
        """Messages that are answered, if at all, by "ok" alone."""
        lobby, now = self._lobby, time.monotonic()
        match message:
            case messages.Ready():
                at = self._own(message)
                lobby.apply(at, at.ready(message.seat, now))
            case messages.Play():
                at = self._own(message)
                card = int(message.card)
                lobby.apply(at, at.play(message.seat, message.stage, card, now))
                self._connection.rate.charge(-1)  # the answer to a turn is never too much
            case messages.Leave():
                at = self._own(message)
                effects = at.leave(message.seat, now)
                lobby.clients.unbind(at.id, message.seat)
                lobby.apply(at, effects)
            case messages.Available():
                self._offer(message)
            case messages.FollowLobby():
                self._people.table_list.subscribe(self._connection, on=message.on)
            case messages.Watch():
                at = lobby.find(message.table)
                at.rules.check_invitation(message.invitation)
                self._people.spectators.watch(self._connection, at, now)
            case messages.Unwatch():
                self._people.spectators.unwatch(self._connection)

    def _welcome(self, message: messages.Hello) -> None:
        settings, limits = self._lobby.settings, self._lobby.settings.limits
        self._connection.send(
            {
                "type": "welcome",
                "id": message.id,
                "protocol": messages.PROTOCOL,
                "name": message.name,
                "registered": self._connection.registered,
                "players": self._lobby.own.available,
                "analyst": self._lobby.analyst,
                "seconds": settings.move_seconds,
                "match_seconds": settings.match_seconds,
                "limits": {
                    "message_bytes": limits.message_bytes,
                    "messages_per_second": limits.messages_per_second,
                    "tables": limits.tables_per_connection,
                },
            }
        )

    def _create(self, message: messages.Create) -> Table:
        settings, seconds = self._lobby.settings, message.seconds
        if message.seats[message.seat] is not None:
            raise ArenaError("seat", f"your seat, number {message.seat}, must be null in seats")
        seconds = settings.move_seconds if seconds is None else seconds
        if not settings.least_seconds <= seconds <= settings.most_seconds:
            least, most = settings.least_seconds, settings.most_seconds
            raise ArenaError("malformed", f"seconds must be from {least:g} to {most:g}")
        self._lobby.clients.check_seats(self._connection)
        rules = self._lobby.rules(
            seconds,
            analysis=message.analysis,
            invitation=secrets.token_urlsafe(9) if message.private else None,
            animation_seconds=settings.animation_seconds,
        )
        return self._lobby.create(message.seats, rules, self._connection.address)

    def _take_seat(self, at: Table, seat: int, message_id: Any) -> None:
        self._lobby.clients.check_seats(self._connection)
        assert self._connection.name is not None
        token, effects = at.sit(seat, self._connection.name, time.monotonic())
        self._seated(at, seat, token, message_id)
        self._lobby.apply(at, effects)

    def _return(self, at: Table, seat: int, token: str, message_id: Any) -> None:
        """The owner of a seat goes on from this connection; an older one loses it."""
        at.seats[seat].check_owner(token)
        if (at.id, seat) not in self._connection.seats:
            self._lobby.clients.check_seats(self._connection)
        effects = at.reconnect(seat, token, time.monotonic())
        self._seated(at, seat, token, message_id)
        self._lobby.apply(at, effects)

    def _seated(self, at: Table, seat: int, token: str, message_id: Any) -> None:
        self._lobby.clients.bind(self._connection, at.id, seat)
        message = seated_message(at.id, seat, token, at.rules.match)
        if at.rules.invitation is not None:
            message["invitation"] = at.rules.invitation
        self._connection.send({**message, "id": message_id})

    def _offer(self, message: messages.Available) -> None:
        """A program takes part in matches, and goes on with the games that wait for it."""
        connection = self._connection
        self._lobby.clients.offer(connection, message.games, challenges=message.challenges)
        if message.games == 0:
            return
        for at in [at for at in self._lobby.tables.values() if at.rules.match is not None]:
            for seat, place in enumerate(at.seats):
                if place.name == connection.name and place.token is not None:
                    self._return(at, seat, place.token, None)

    async def _analyse(self, at: Table, message: messages.Analyse) -> None:
        game = at.analysed_game(message.seat, message.stage)
        where = {"table": at.id, "seat": message.seat, "stage": message.stage}
        with self._analyses.held(self._connection.address):
            opinion = await self._lobby.own.analyse(position(game))
        self._connection.send({"type": "analysis", **where, **opinion, "id": message.id})

    def _accept(self, message: messages.AnyMessage) -> None:
        if message.id is not None:
            self._connection.send({"type": "ok", "id": message.id})

    def _own(self, message: messages.AtTable) -> Table:
        """The table, if this client sits where it says."""
        at = self._lobby.find(message.table)
        if (message.table, message.seat) not in self._connection.seats:
            raise ArenaError("forbidden", f"seat {message.seat} is not yours here")
        return at
