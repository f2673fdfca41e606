"""The parts of a running arena, put together."""

import asyncio
import logging
import time
from dataclasses import dataclass

from gongzhu_jax import players
from gongzhu_jax.arena.hall import Hall
from gongzhu_jax.arena.matches import Matches
from gongzhu_jax.arena.own_players import MakePlayer, OwnPlayers
from gongzhu_jax.arena.people import People
from gongzhu_jax.arena.rates import Rates
from gongzhu_jax.arena.settings import Settings
from gongzhu_jax.arena.store import Store
from gongzhu_jax.errors import ArenaError
from gongzhu_jax.players.protocol import Player

log = logging.getLogger("gongzhu_jax.arena")


@dataclass(frozen=True)
class Service:
    settings: Settings
    store: Store
    own: OwnPlayers
    hall: Hall
    matches: Matches
    requests: Rates
    people: People

    async def open(self) -> None:
        lost = await asyncio.to_thread(self.store.lose_open_games)
        for game in lost:
            log.warning("lost: the game of table %s, %s", game["table_id"], game["players"])
        for match_id in await asyncio.to_thread(self.store.lose_open_matches):
            log.warning("lost: match %s", match_id)
        await self.hall.open()
        await self.people.open()

    async def close(self) -> None:
        await self.hall.close()
        await asyncio.to_thread(self.own.close)
        await asyncio.to_thread(self.store.close)

    def check_rate(self, caller: str) -> None:
        """For requests that cost work: not too many of them from one address."""
        if not self.requests.take(caller, time.monotonic()):
            raise ArenaError("rate", "too many requests; try again later")


def make_service(settings: Settings, make_player: MakePlayer | None = None) -> Service:
    """An arena that is not open yet. `make_player` makes our players by name."""
    limits = settings.limits

    def make_own(name: str) -> Player:
        return players.make(name, **settings.options(players.option_names(name)))

    store = Store(settings.database)
    own = OwnPlayers(make_player or make_own, settings.analyst, limits.analyses_waiting)
    hall = Hall(settings, store, own)
    rates = Rates(limits.requests_per_second, limits.request_burst)
    return Service(settings, store, own, hall, Matches(hall), rates, People(hall))
