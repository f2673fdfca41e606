"""All tables and clients of one arena. Lives on the event loop, which is its only lock: whatever
happens between two awaits happens at once."""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import numpy as np

from gongzhu_jax import players
from gongzhu_jax.arena import messages, table
from gongzhu_jax.arena.connection import Connection, to_text
from gongzhu_jax.arena.own_players import OwnPlayers, Position
from gongzhu_jax.arena.settings import Settings
from gongzhu_jax.arena.store import Store
from gongzhu_jax.arena.table import Ask, By, Deal, Effect, GameKey, Send, Table, TableRules
from gongzhu_jax.arena.table_game import TableGame
from gongzhu_jax.errors import ArenaError
from gongzhu_jax.game.cards import NUM_RANKS, NUM_SEATS
from gongzhu_jax.records import Record

_TICK_SECONDS = 0.2
log = logging.getLogger("gongzhu_jax.arena")


class Hall:
    def __init__(self, settings: Settings, store: Store, own: OwnPlayers) -> None:
        self.settings = settings
        self.store = store
        self.own = own
        self.tables: dict[str, Table] = {}
        self.connections: set[Connection] = set()
        self.programs: dict[str, Connection] = {}  # by name: those that take part in matches
        self.available: list[str] = []  # our players that can play here
        self._clients: dict[tuple[str, int], Connection] = {}
        self.listeners: list[Callable[[Table, Effect], None]] = []
        self._finished: dict[str, asyncio.Future[Sequence[int]]] = {}
        self._tasks: set[asyncio.Task] = set()

    # running

    async def open(self) -> None:
        """To be called once, on the event loop that serves."""
        self.available = await self.own.available()
        self.spawn(self._tick())

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Runs `work` beside everything else; what goes wrong in it is logged."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("a task of the arena failed", exc_info=task.exception())

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            for at in list(self.tables.values()):
                self.apply(at, at.tick(time.monotonic()))

    @property
    def analyst(self) -> str | None:
        """Whose opinion can be had here, if any."""
        return self.settings.analyst if self.settings.analyst in self.available else None

    # clients

    def connect(self) -> Connection:
        if len(self.connections) >= self.settings.limits.connections:
            raise ArenaError("full", "too many connections; try again later")
        connection = Connection(self.settings.limits, time.monotonic())
        self.connections.add(connection)
        return connection

    def disconnect(self, connection: Connection) -> None:
        """The client is gone; its seats wait for it."""
        self.connections.discard(connection)
        connection.close()
        if connection.name is not None and self.programs.get(connection.name) is connection:
            del self.programs[connection.name]
        for table_id, seat in list(connection.seats):
            del self._clients[table_id, seat]
            at = self.tables[table_id]
            self.apply(at, at.disconnect(seat, time.monotonic()))
        connection.seats.clear()

    async def hello(self, connection: Connection, message: messages.Hello) -> None:
        if message.protocol != messages.PROTOCOL:
            raise ArenaError("protocol", f"this server speaks protocol {messages.PROTOCOL}")
        if connection.name is not None:
            raise ArenaError("phase", "hello was said already")
        if message.name in players.names():
            raise ArenaError("taken", f"{message.name!r} is the name of one of our players")
        found = await asyncio.to_thread(self.store.account, message.name)
        if found is not None and not await asyncio.to_thread(
            self.store.owns, message.name, message.token or ""
        ):
            raise ArenaError("forbidden", f"the name {message.name!r} belongs to another token")
        if found is None and message.token is not None:
            raise ArenaError("forbidden", f"the name {message.name!r} is not registered")
        connection.name, connection.registered = message.name, found is not None
        connection.turns_only = message.turns_only
        limits = self.settings.limits
        connection.send(
            {
                "type": "welcome",
                "id": message.id,
                "protocol": messages.PROTOCOL,
                "name": message.name,
                "registered": connection.registered,
                "players": self.available,
                "analyst": self.analyst,
                "seconds": self.settings.move_seconds,
                "limits": {
                    "message_bytes": limits.message_bytes,
                    "messages_per_second": limits.messages_per_second,
                    "tables": limits.tables_per_connection,
                },
            }
        )

    def offer(self, connection: Connection, games: int) -> None:
        """A registered program takes part in matches, or, with 0 games, no longer does."""
        name = connection.name
        if name is None or not connection.registered:
            raise ArenaError("forbidden", "only registered names take part in matches")
        connection.games_offered = games
        if games == 0:
            self.programs.pop(name, None)
            return
        self.programs[name] = connection
        for at in [at for at in self.tables.values() if at.rules.match is not None]:
            for seat, place in enumerate(at.seats):
                if place.name == name and place.token is not None:
                    self.return_to(connection, at, seat, place.token)

    # tables

    async def create(self, connection: Connection, message: messages.Create) -> Table:
        """A table for clients and our players. Its maker must be seated at once."""
        seats, analysis = message.seats, message.analysis
        if seats[message.seat] is not None:
            raise ArenaError("seat", f"your seat, number {message.seat}, must be null in seats")
        seconds = self.settings.move_seconds if message.seconds is None else message.seconds
        if not self.settings.least_seconds <= seconds <= self.settings.most_seconds:
            least, most = self.settings.least_seconds, self.settings.most_seconds
            raise ArenaError("malformed", f"seconds must be from {least:g} to {most:g}")
        self.check_room(connection)
        for name in {name for name in seats if name is not None}:
            await self.own.prepare(name)
        if analysis:
            await self.own.prepare_analyst()
        self.check_room(connection)  # again: others may have come in the meantime
        rules = self.rules(
            seconds,
            analysis=analysis,
            invitation=secrets.token_urlsafe(9) if message.private else None,
            animation_seconds=self.settings.animation_seconds,
        )
        return self.add_table(seats, rules, random_deal)

    def create_match_table(
        self, seats: Sequence[str], deal: Deal, match: int, seconds: float
    ) -> tuple[Table, asyncio.Future[Sequence[int]]]:
        """A table for one game of a match, with everybody seated; the future holds the scores.

        Names that are not those of our players are of programs, here or about to come back.
        """
        own = [name if name in players.names() else None for name in seats]
        rules = self.rules(seconds, games=1, match=match)
        at = self.add_table(own, rules, lambda number: deal)
        future = asyncio.get_running_loop().create_future()
        self._finished[at.id] = future
        for seat, name in enumerate(seats):
            if own[seat] is None:
                token, effects = at.sit(seat, name, time.monotonic())
                self.apply(at, effects)
                self._seat_program(at, seat, name, token)
        return at, future

    def add_table(
        self, seats: Sequence[str | None], rules: TableRules, deal: table.DealFn
    ) -> Table:
        table_id = secrets.token_hex(6)
        at = Table(table_id, seats, rules, deal, time.monotonic())
        self.tables[table_id] = at
        return at

    def find(self, table_id: str) -> Table:
        at = self.tables.get(table_id)
        if at is None:
            raise ArenaError("unknown", "there is no such table, or it is closed")
        return at

    def take_seat(self, connection: Connection, at: Table, seat: int, message_id: Any) -> None:
        self._check_seats(connection)
        assert connection.name is not None
        token, effects = at.sit(seat, connection.name, time.monotonic())
        self._bind(connection, at, seat)
        connection.send(_seated(at, seat, token) | {"id": message_id})
        self.apply(at, effects)

    def return_to(
        self, connection: Connection, at: Table, seat: int, token: str, message_id: Any = None
    ) -> None:
        """The owner of a seat goes on from this connection; an older one loses it."""
        at.owned(seat, token)
        if (at.id, seat) not in connection.seats:
            self._check_seats(connection)
        effects = at.reconnect(seat, token, time.monotonic())
        self._bind(connection, at, seat)
        connection.send(_seated(at, seat, token) | {"id": message_id})
        self.apply(at, effects)

    def leave(self, connection: Connection, at: Table, seat: int) -> None:
        effects = at.leave(seat, time.monotonic())
        self._unbind(at.id, seat)
        self.apply(at, effects)

    async def analyse(self, at: Table, seat: int, stage: int) -> dict[str, Any]:
        game = at.analysed_game(seat, stage)
        found = await self.own.analyse(position(game))
        return {"type": "analysis", "table": at.id, "seat": seat, "stage": stage, **found}

    # effects

    def apply(self, at: Table, effects: list[Effect]) -> None:
        """Carries out what a change of a table asks for."""
        for effect in effects:
            for listener in self.listeners:
                listener(at, effect)
            match effect:
                case Send():
                    self._send(at, effect)
                case Ask():
                    assert at.game is not None
                    assert at.deal is not None
                    self.spawn(self._ask(at, effect, position(at.game), at.deal.key))
                case table.Opened():
                    names = tuple(place.label or "nobody" for place in at.seats)
                    self.store.open_game(at.id, names)
                case table.Store(record):
                    self.spawn(self._record(at, record))
                case table.Closed():
                    self._forget(at, effect)

    def _send(self, at: Table, effect: Send) -> None:
        seats = range(NUM_SEATS) if effect.seat is None else [effect.seat]
        there = {self._clients.get((at.id, seat)) for seat in seats}
        found = [
            connection
            for connection in there
            if connection is not None and (effect.essential or not connection.turns_only)
        ]
        text = to_text(effect.message) if found else ""
        for connection in found:
            connection.push(text)

    async def _ask(self, at: Table, ask: Ask, known: Position, key: GameKey) -> None:
        """Gets the card of one of our players."""
        card = None
        try:
            card = await self.own.act(ask.player, key, known)
        except Exception:
            log.exception("player %s failed", ask.player)
        game = at.game
        if at.phase is not table.Phase.PLAYING or game is None or game.stage != ask.stage:
            return  # the clock was quicker
        now = time.monotonic()
        if card is None:
            self.apply(at, at.clock_play(now, By.FAULT))
        else:
            self.apply(at, at.play(ask.seat, ask.stage, card, now))

    async def _record(self, at: Table, record: Record) -> None:
        """Stores a finished game, then tells its players."""
        try:
            future = self.store.finish_game(at.id, at.rules.match, record)
            game_id = await asyncio.wrap_future(future)
        except Exception:
            log.exception("a game of table %s could not be stored", at.id)
            self.apply(at, at.close("the game could not be stored"))
            return
        # First the waiting match: the table may be gone after what follows.
        finished = self._finished.pop(at.id, None)
        self.apply(at, at.recorded(game_id, time.monotonic()))
        if finished is not None and not finished.done():
            finished.set_result(record.scores)

    def _forget(self, at: Table, closed: table.Closed) -> None:
        for seat in range(NUM_SEATS):
            self._unbind(at.id, seat)
        self.tables.pop(at.id, None)
        if closed.unfinished:
            self.store.lose_game(at.id, closed.reason)
        finished = self._finished.pop(at.id, None)
        if finished is not None and not finished.done():
            finished.set_exception(ArenaError("closed", closed.reason))

    # inside

    def rules(self, seconds: float, **more: Any) -> TableRules:
        """The rules of a table here; `more` are fields of `TableRules`."""
        return TableRules(
            move_seconds=seconds,
            own_seconds=self.settings.own_seconds,
            idle_seconds=self.settings.idle_seconds,
            **more,
        )

    def check_room(self, connection: Connection) -> None:
        """For one more table, and for its maker at it."""
        self._check_seats(connection)
        if len(self.tables) >= self.settings.limits.tables:
            raise ArenaError("full", "all tables are in use; try again later")

    def _check_seats(self, connection: Connection) -> None:
        if len(connection.seats) >= self.settings.limits.tables_per_connection:
            raise ArenaError("full", "this connection has as many seats as it may")

    def _bind(self, connection: Connection, at: Table, seat: int) -> None:
        older = self._clients.get((at.id, seat))
        if older is not None and older is not connection:
            older.seats.discard((at.id, seat))
            older.send({"type": "replaced", "table": at.id, "seat": seat})
        self._clients[at.id, seat] = connection
        connection.seats.add((at.id, seat))

    def _unbind(self, table_id: str, seat: int) -> None:
        connection = self._clients.pop((table_id, seat), None)
        if connection is not None:
            connection.seats.discard((table_id, seat))

    def _seat_program(self, at: Table, seat: int, name: str, token: str) -> None:
        connection = self.programs.get(name)
        if connection is None:
            at.disconnect(seat, time.monotonic())
            return
        self._bind(connection, at, seat)
        connection.send(_seated(at, seat, token) | {"match": at.rules.match})


def position(game: TableGame) -> Position:
    """What the seat to move knows. From here on nothing else of the game is used."""
    seat = game.mover
    return Position(seat, tuple(sorted(game.hands[seat])), game.leader, tuple(game.plays))


def random_deal(number: int) -> Deal:
    """A deal that nobody can foresee; the lead goes round."""
    owners = np.repeat(np.arange(NUM_SEATS), NUM_RANKS).tolist()
    secrets.SystemRandom().shuffle(owners)
    return Deal(owners, number % NUM_SEATS, GameKey(secrets.randbits(32), number, 0))


def _seated(at: Table, seat: int, token: str) -> dict[str, Any]:
    seated = {"type": "seated", "table": at.id, "seat": seat, "token": token}
    invitation = at.rules.invitation
    return seated if invitation is None else {**seated, "invitation": invitation}
