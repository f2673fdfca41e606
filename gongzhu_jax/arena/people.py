"""What the arena does for people beside the game itself."""

import asyncio
import time

from gongzhu_jax.arena.daily import DailyDeals
from gongzhu_jax.arena.effects import Effect
from gongzhu_jax.arena.lobby import Lobby
from gongzhu_jax.arena.people_store import PeopleStore
from gongzhu_jax.arena.reports import Reports
from gongzhu_jax.arena.spectators import Spectators
from gongzhu_jax.arena.table import Table
from gongzhu_jax.arena.table_list import TableList

_TICK_SECONDS = 0.25


class People:
    """Listens to what happens at the tables, and changes nothing there."""

    def __init__(self, lobby: Lobby) -> None:
        self._lobby = lobby
        self.store = PeopleStore(lobby.store)
        self.daily = DailyDeals(lobby, self.store)
        self.reports = Reports(lobby.own, self.store, lambda: lobby.analyst, lobby.spawn)
        self.spectators = Spectators(lobby.settings.spectator_seconds)
        self.table_list = TableList(lobby)
        lobby.listeners.append(self._heard)

    async def open(self) -> None:
        await self.daily.open()
        self._lobby.spawn(self._tick())

    def _heard(self, at: Table, effect: Effect) -> None:
        self.spectators.heard(at, effect, time.monotonic())
        self.daily.heard(at, effect)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            self.table_list.tick(time.monotonic())
            self.spectators.tick(time.monotonic())
