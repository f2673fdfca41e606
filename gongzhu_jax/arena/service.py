"""The parts of a running arena, put together."""

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass

from gongzhu_jax import players
from gongzhu_jax.arena.lobby import Lobby
from gongzhu_jax.arena.match_queue import MatchQueue
from gongzhu_jax.arena.own_players import MakePlayer, OwnPlayers
from gongzhu_jax.arena.people import People
from gongzhu_jax.arena.rates import Rates, Shares
from gongzhu_jax.arena.rating_board import RatingBoard
from gongzhu_jax.arena.settings import Settings
from gongzhu_jax.arena.store import Store
from gongzhu_jax.players.protocol import Player

_FORGET_SECONDS = 3600.0
log = logging.getLogger("gongzhu_jax.arena")


@dataclass(frozen=True)
class Service:
    settings: Settings
    store: Store
    own: OwnPlayers
    lobby: Lobby
    matches: MatchQueue
    ratings: RatingBoard
    accounts: Rates  # how often an address may register a name
    analyses: Shares  # that an address has under way
    opinions: Shares  # that an address waits for
    people: People

    async def open(self) -> None:
        await self.people.open()
        await self.lobby.open()
        self.lobby.spawn(self._forget_names())
        await self.matches.open()

    async def close(self) -> None:
        """Everything that was begun is stored, and goes on at the next start."""
        self.lobby.closing = True
        await self.lobby.close()
        self.own.close()
        self.matches.close()
        await asyncio.to_thread(self.store.close)

    async def _forget_names(self) -> None:
        """Names that nobody uses are free again, however long the server runs."""
        while True:
            days = self.settings.limits.account_days
            await asyncio.wrap_future(self.store.accounts.forget_unused(days))
            await asyncio.sleep(_FORGET_SECONDS)

    def metrics(self) -> bytes:
        lobby = self.lobby
        waiting = sum(program.waiting for program in self.own.programs.values())
        now = {
            "connections": len(lobby.clients.connections),
            "programs": len(lobby.clients.programs),
            "matches_playing": self.matches.playing,
            "matches_queued": self.matches.waiting,
            "positions_waiting": waiting,
        }
        return lobby.metrics.text(Counter(at.phase for at in lobby.tables.values()), now)


def make_service(settings: Settings, make_player: MakePlayer | None = None) -> Service:
    """An arena that is not open yet. `make_player` makes our players by name."""
    limits = settings.limits

    def make_own(name: str) -> Player:
        return players.make(name, **settings.options(players.option_names(name)))

    store = Store(settings.database)
    own = OwnPlayers(make_player or make_own, settings.analyst, limits.analyses_waiting)
    lobby = Lobby(settings, store, own)
    return Service(
        settings,
        store,
        own,
        lobby,
        MatchQueue(lobby),
        RatingBoard(store.matches, lambda: own.available),
        Rates(limits.accounts_per_hour / 3600, limits.account_burst),
        Shares(limits.analyses_per_address, "busy", "one analysis at a time for each address"),
        Shares(limits.opinions_per_address, "busy", "too many opinions for your address"),
        People(lobby),
    )
