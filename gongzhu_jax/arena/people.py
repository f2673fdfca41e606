"""What the arena does for people beside the game itself."""

import asyncio
import time

from gongzhu_jax.arena.daily import DailyDeals
from gongzhu_jax.arena.hall import Hall
from gongzhu_jax.arena.people_store import PeopleStore
from gongzhu_jax.arena.reports import Reports
from gongzhu_jax.arena.spectators import Spectators
from gongzhu_jax.arena.table import Effect, Table
from gongzhu_jax.arena.table_list import TableList

_TICK_SECONDS = 0.25


class People:
    """Listens to what happens at the tables, and changes nothing there."""

    def __init__(self, hall: Hall) -> None:
        self._hall = hall
        self.store = PeopleStore(hall.store)
        self.daily = DailyDeals(hall, self.store)
        self.reports = Reports(hall.own, self.store, lambda: hall.analyst, hall.spawn)
        self.spectators = Spectators(hall.settings.spectator_delay)
        self.table_list = TableList(hall)
        hall.listeners.append(self._heard)

    async def open(self) -> None:
        await asyncio.to_thread(self.store.open)
        self._hall.spawn(self._tick())

    def _heard(self, at: Table, effect: Effect) -> None:
        self.spectators.heard(at, effect, time.monotonic())
        self.daily.heard(at, effect)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            self.table_list.tick(time.monotonic())
            self.spectators.tick(time.monotonic())
