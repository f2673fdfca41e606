"""The deal of the day: one deal for everybody, against three of our strongest player, whose random
choices are the same for everybody too. Each name has one try; the table of margins is public, the
cards are secret until the day is over."""

import asyncio
import datetime
import secrets
from typing import Any

from gongzhu_jax.arena.connection import Connection
from gongzhu_jax.arena.deals import Deal, GameKey, random_deal
from gongzhu_jax.arena.duplicate import margin, play_again
from gongzhu_jax.arena.effects import Closed, Effect, Send
from gongzhu_jax.arena.lobby import Lobby
from gongzhu_jax.arena.people_store import PeopleStore
from gongzhu_jax.arena.table import Table
from gongzhu_jax.errors import ArenaError
from gongzhu_jax.game.cards import NUM_SEATS

SEAT = 0
"""Where the person sits."""
MOST_RESULTS = 100


def today() -> str:
    """The day in UTC, as SQLite's date('now')."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


class DailyDeals:
    def __init__(self, lobby: Lobby, store: PeopleStore) -> None:
        self._lobby = lobby
        self._store = store
        self._playing: set[str] = set()  # days whose deal our players are playing

    async def open(self) -> None:
        """Tables of yesterday's and today's deal may come back when the server starts."""
        yesterday = datetime.date.fromisoformat(today()) - datetime.timedelta(days=1)
        for known in await asyncio.to_thread(self._store.daily_deals, yesterday.isoformat()):
            self._known(*known)

    async def create_table(self, connection: Connection) -> Table:
        """A table for the try of one person, who must be seated at once."""
        lobby, day, name = self._lobby, today(), connection.name
        assert name is not None
        other = lobby.analyst
        if other is None:
            raise ArenaError("player", "our strongest player cannot play here")
        await self.deal(day)
        seats = [None if seat == SEAT else other for seat in range(NUM_SEATS)]
        rules = lobby.rules(lobby.settings.most_seconds, games=1, daily=day)
        at = lobby.create(seats, rules, connection.address)
        try:
            await asyncio.to_thread(self._store.begin_daily, day, name, at.id)
        except BaseException:
            lobby.apply(at, at.close("nobody came"))
            raise
        return at

    def seated(self, at: Table) -> None:
        """Whoever has the token of the seat may look at the game before the day is over."""
        token = at.seats[SEAT].token
        assert token is not None
        self._store.own_daily(at.id, token)

    async def deal(self, day: str) -> Deal:
        """Dealt when it is first wanted, so that nobody can know it before."""
        new = random_deal(0)
        owners, seed = await asyncio.to_thread(
            self._store.daily_deal, day, list(new.owners), secrets.randbits(32)
        )
        return self._known(day, owners, seed)

    def _known(self, day: str, owners: list[int], seed: int) -> Deal:
        deal = Deal(owners, SEAT, GameKey(seed, 0, 0), {"daily": day})
        self._lobby.daily_deals[day] = deal
        return deal

    def heard(self, at: Table, effect: Effect) -> None:
        if at.rules.daily is None:
            return
        if isinstance(effect, Send) and effect.message["type"] == "game_end":
            end = effect.message
            self._store.finish_daily(at.id, end["game"], margin(end["scores"], SEAT))
        elif isinstance(effect, Closed) and at.game is None:
            self._store.forget_daily(at.id)  # a try counts once cards were dealt

    async def results(self, day: str, name: str | None) -> dict[str, Any]:
        """The table of margins, and how our strongest player does in the person's seat."""
        if day > today():
            raise ArenaError("unknown", "that day has not come yet")
        benchmark = await asyncio.to_thread(self._store.benchmark, day)
        games = await asyncio.to_thread(self._store.daily_count, day)
        if benchmark is None and games > 0:
            self._play(day)
        yours = name and await asyncio.to_thread(self._store.daily_result, day, name)
        over = day < today()
        theirs = None if benchmark is None else margin(benchmark["scores"], SEAT)
        rows = await asyncio.to_thread(self._store.daily_results, day, MOST_RESULTS)
        return {
            "day": day,
            "player": self._lobby.analyst,
            "benchmark": theirs,
            "games": games,
            # The game of a day that is not over can be seen by nobody else.
            "results": [row if over else {**row, "game": None} for row in rows],
            "yours": yours or None,
        }

    def _play(self, day: str) -> None:
        """Our players play the deal, once a day."""
        player = self._lobby.analyst
        if player is not None and day not in self._playing:
            self._playing.add(day)
            self._lobby.spawn(self._play_deal(day, player))

    async def _play_deal(self, day: str, player: str) -> None:
        try:
            played = await play_again(self._lobby.own, [player] * 4, await self.deal(day))
            await asyncio.wrap_future(self._store.keep_benchmark(day, played))
        finally:
            self._playing.discard(day)
