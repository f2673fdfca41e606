"""All tables of one arena. Lives on the event loop, which is its only lock: whatever happens
between two awaits happens at once."""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from gongzhu_jax.arena.clients import Clients
from gongzhu_jax.arena.connection import Connection
from gongzhu_jax.arena.deals import Deal, DealFn, random_deal
from gongzhu_jax.arena.effects import (
    Ask,
    By,
    Closed,
    Effect,
    Phase,
    Save,
    SavePlay,
    Send,
    StoreGame,
)
from gongzhu_jax.arena.metrics import Metrics
from gongzhu_jax.arena.own_players import OwnPlayers
from gongzhu_jax.arena.pace import Pace
from gongzhu_jax.arena.position import position
from gongzhu_jax.arena.rates import Shares
from gongzhu_jax.arena.seats import TableRules
from gongzhu_jax.arena.settings import Settings
from gongzhu_jax.arena.store import Store
from gongzhu_jax.arena.table import Table
from gongzhu_jax.arena.table_state import dump_table, restore_table
from gongzhu_jax.errors import ArenaError
from gongzhu_jax.game.cards import NUM_SEATS

_TICK_SECONDS = 0.2
log = logging.getLogger("gongzhu_jax.arena")

Listener = Callable[[Table, Effect], None]


class Lobby:
    def __init__(self, settings: Settings, store: Store, own: OwnPlayers) -> None:
        self.settings = settings
        self.store = store
        self.own = own
        self.clients = Clients(settings, store)
        self.metrics = Metrics()
        self.tables: dict[str, Table] = {}
        self.listeners: list[Listener] = []  # hear of every effect before it is carried out
        self.daily_deals: dict[str, Deal] = {}  # by day, of those that may be asked for
        self.closing = False
        self._pace = Pace(settings.own_least_seconds, settings.own_most_seconds)
        self._makers: dict[str, str] = {}  # address that made each table
        self._per_address = Shares(
            settings.limits.tables_per_address, "full", "too many tables from your address"
        )
        self._tasks: set[asyncio.Task] = set()

    # running

    async def open(self) -> None:
        """Starts the lobby; called once, on the event loop that serves."""
        await self.own.open()
        await self._restore()
        if self.settings.prepare:
            chosen = self.settings.prepare
            self.own.prepare_early(self.own.available if chosen is True else chosen)
        self.spawn(self._tick())

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def drain(self) -> None:
        """The server is about to stop: nothing begins any more, and clients know why."""
        self.closing = True
        for connection in self.clients.connections:
            connection.send({"type": "closing", "reason": "the server restarts"})

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task:
        """Runs `work` beside everything else; what goes wrong in it is logged."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("a task of the arena failed", exc_info=task.exception())

    async def _tick(self) -> None:
        while True:
            due = time.monotonic() + _TICK_SECONDS
            await asyncio.sleep(_TICK_SECONDS)
            self.metrics.loop_delay.observe(max(0.0, time.monotonic() - due))
            for at in list(self.tables.values()):
                self.apply(at, at.tick(time.monotonic()))

    async def _restore(self) -> None:
        """Goes on with the tables that were open when the server was stopped."""
        for table_id, state, plays in await asyncio.to_thread(lambda: [*self.store.tables.all()]):
            try:
                at, effects = restore_table(table_id, state, plays, self.deal_fn, time.monotonic())
            except Exception:
                log.exception("table %s could not be restored", table_id)
                self.store.tables.close(table_id, "the table could not be restored")
                continue
            if not at.preparing <= set(self.own.available) or (
                at.rules.match is not None and at.game is None
            ):
                self.store.tables.close(table_id, "the table could not be restored")
                continue
            self.tables[table_id] = at
            self.apply(at, effects)
            self._prepare(at)
        if self.tables:
            log.warning("%d tables go on where they were", len(self.tables))

    # tables

    @property
    def analyst(self) -> str | None:
        """The player whose opinion can be asked for here, if there is one."""
        return self.settings.analyst if self.settings.analyst in self.own.available else None

    def deal_fn(self, rules: TableRules) -> DealFn:
        """Where the deals of a table come from."""
        day = rules.daily
        return random_deal if day is None else lambda number: self.daily_deals[day]

    def rules(self, seconds: float, **more: Any) -> TableRules:
        return TableRules(
            move_seconds=seconds,
            own_seconds=self.settings.own_seconds,
            idle_seconds=self.settings.idle_seconds,
            seat_seconds=self.settings.seat_seconds,
            **more,
        )

    def create(
        self, seats: Sequence[str | None], rules: TableRules, address: str | None = None
    ) -> Table:
        """A table for clients and our players; `address` is that of the client that makes it."""
        if self.closing:
            raise ArenaError("closing", "the server restarts; try again in a moment")
        if len(self.tables) >= self.settings.limits.tables:
            raise ArenaError("full", "all tables are in use; try again later")
        for name in seats:
            if name is not None:
                self.own.check(name)
        if address is not None:
            self._per_address.take(address)
        at = self.add(seats, rules, self.deal_fn(rules))
        if address is not None:
            self._makers[at.id] = address
        return at

    def add(self, seats: Sequence[str | None], rules: TableRules, deal: DealFn) -> Table:
        preparing = {name for name in seats if name is not None and not self.own.is_ready(name)}
        at = Table(secrets.token_hex(6), seats, rules, deal, time.monotonic(), preparing)
        self.tables[at.id] = at
        self._prepare(at)
        return at

    def find(self, table_id: str) -> Table:
        at = self.tables.get(table_id)
        if at is None:
            raise ArenaError("unknown", "there is no such table, or it is closed")
        return at

    def disconnect(self, connection: Connection) -> None:
        """The client is gone; its seats wait for it."""
        for table_id, seat in self.clients.disconnect(connection):
            at = self.tables[table_id]
            self.apply(at, at.disconnect(seat, time.monotonic()))

    def _prepare(self, at: Table) -> None:
        for name in list(at.preparing):
            self.spawn(self._prepare_player(at, name))

    async def _prepare_player(self, at: Table, name: str) -> None:
        try:
            await self.own.prepare(name)
        except Exception:
            log.exception("player %s cannot be compiled", name)
            self.apply(at, at.close(f"player {name} cannot play here"))
            return
        self.apply(at, at.prepared(name, time.monotonic()))

    # effects

    def apply(self, at: Table, effects: list[Effect]) -> None:
        """Carries out what a change of a table asks for."""
        for effect in effects:
            for listener in self.listeners:
                listener(at, effect)
            match effect:
                case Send(seat, message, essential):
                    self.clients.send(at.id, seat, message, essential=essential)
                case SavePlay(stage, card, by):
                    self.metrics.plays.labels(by).inc()
                    self.store.tables.save_play(at.id, stage, card, by)
                case Ask():
                    self.spawn(self._ask(at, effect))
                case Save():
                    self.store.tables.save(at.id, dump_table(at))
                case StoreGame(record):
                    self.spawn(self._record(at, record))
                case Closed():
                    self._forget(at, effect)

    async def _ask(self, at: Table, ask: Ask) -> None:
        """Gets the card of one of our players, and plays it when its time has come."""
        if at.game is None or at.deal is None or at.game.stage != ask.stage:
            return
        started = time.monotonic()
        legal, card, thought = at.game.legal(), None, None
        try:
            if len(legal) == 1:
                card = legal[0]
            else:
                card = await self.own.act(ask.player, at.deal.key, position(at.game))
                thought = time.monotonic() - started
                self.metrics.thinking.labels(ask.player).observe(thought)
        except Exception:
            log.exception("player %s failed", ask.player)
        due = started + self._pace.seconds(ask.player, thought)
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        if at.phase is not Phase.PLAYING or at.game.stage != ask.stage:
            return  # the clock was quicker, or the table is closed
        now = time.monotonic()
        if card is None:
            self.apply(at, at.clock_play(now, By.FAULT))
        else:
            self.apply(at, at.play(ask.seat, ask.stage, card, now))

    async def _record(self, at: Table, record: Any) -> None:
        """Stores a finished game, then tells its players."""
        try:
            future = self.store.games.finish(at.id, at.rules.match, record)
            game_id = await asyncio.wrap_future(future)
        except Exception:
            log.exception("a game of table %s could not be stored", at.id)
            self.apply(at, at.close("the game could not be stored"))
            return
        self.metrics.games.inc()
        self.apply(at, at.recorded(game_id, time.monotonic()))

    def _forget(self, at: Table, closed: Closed) -> None:
        for seat in range(NUM_SEATS):
            self.clients.unbind(at.id, seat)
        self.tables.pop(at.id, None)
        maker = self._makers.pop(at.id, None)
        if maker is not None:
            self._per_address.give_back(maker)
        self.store.tables.close(at.id, closed.reason if closed.unfinished else None)
