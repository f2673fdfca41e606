"""The matches that wait and those that are played."""

import asyncio
from collections import Counter
from collections.abc import Callable

from gongzhu_jax.arena.lobby import Lobby
from gongzhu_jax.arena.match import Match, MatchRun
from gongzhu_jax.arena.match_deals import new_seed
from gongzhu_jax.arena.ratings import ANCHOR
from gongzhu_jax.arena.worker import Worker
from gongzhu_jax.errors import ArenaError

HOUSE = "house"
"""The owner of matches that nobody asked for: those that our players need for their ratings."""


class MatchQueue:
    """Every account has one match played at a time, every address a few, in the order of asking;
    those of the house come last."""

    def __init__(self, lobby: Lobby, seeds: Callable[[], str] = new_seed) -> None:
        self._lobby = lobby
        self._seeds = seeds
        self._waiting: list[Match] = []
        self._worker = Worker("arena-datum")
        self._asking = asyncio.Lock()  # what was checked must still hold when the match is added
        self._playing: dict[int, MatchRun] = {}

    async def open(self) -> None:
        """Goes on with the matches of a server that was stopped."""
        for row in await asyncio.to_thread(self._lobby.store.matches.running):
            names = ("id", "owner", "first", "second", "deals", "seed")
            self._waiting.append(Match(**{name: row[name] for name in names}))
        # Those whose games are at tables already come first.
        begun = {at.rules.match for at in self._lobby.tables.values()}
        self._waiting.sort(key=lambda match: match.id not in begun)
        self._begin()

    def close(self) -> None:
        self._worker.close()

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def playing(self) -> int:
        return len(self._playing)

    async def ask(self, name: str, opponent: str, deals: int) -> int:
        """Queues a match of the program `name`; its id."""
        limits = self._lobby.settings.limits
        if not 1 <= deals <= limits.match_deals:
            raise ArenaError("malformed", f"deals must be from 1 to {limits.match_deals}")
        if name == opponent:
            raise ArenaError("player", "a match needs two different players")
        if self._lobby.closing:
            raise ArenaError("closing", "the server restarts; try again in a moment")
        self._check_consent(name, opponent)
        async with self._asking:
            mine = [match for match in self._all() if match.owner == name]
            if len(mine) >= limits.matches_per_account:
                raise ArenaError("full", "you have as many matches waiting as you may")
            if any({match.first, match.second} == {name, opponent} for match in mine):
                raise ArenaError("taken", "that match is waiting or being played already")
            match_id = await self._add(name, name, opponent, deals)
            await self._connect_with_anchor(opponent)
            return match_id

    async def cancel(self, match_id: int, name: str) -> None:
        """Ends a match of the program `name`. The deals that have begun count."""
        match = next((match for match in self._all() if match.id == match_id), None)
        if match is None or match.ending:
            raise ArenaError("unknown", "there is no such match that could be cancelled")
        if name not in (match.first, match.second):
            raise ArenaError("forbidden", "only its players can cancel a match")
        if match in self._waiting:
            match.ending = True
            self._waiting.remove(match)
            await asyncio.wrap_future(
                self._lobby.store.matches.end(match.id, "cancelled", [], None)
            )
        else:
            self._playing[match_id].cancel(name)

    def _check_consent(self, name: str, opponent: str) -> None:
        programs = self._lobby.clients.programs
        if name not in programs:
            raise ArenaError("player", "your program is not here and available")
        if opponent in self._lobby.own.programs:
            return
        if opponent not in programs:
            raise ArenaError("player", "the opponent is not here and available")
        if not programs[opponent].challenges:
            raise ArenaError("forbidden", "the opponent does not take challenges")

    async def _connect_with_anchor(self, opponent: str) -> None:
        """A match against one of ours rates a program only if that one has met the anchor."""
        if opponent not in self._lobby.own.programs or opponent == ANCHOR:
            return
        pair = {opponent, ANCHOR}
        results = await asyncio.to_thread(self._lobby.store.matches.results)
        known = any({row["first"], row["second"]} == pair for row in results)
        if not known and not any({match.first, match.second} == pair for match in self._all()):
            await self._add(HOUSE, opponent, ANCHOR, self._lobby.settings.house_deals)

    async def _add(self, owner: str, first: str, second: str, deals: int) -> int:
        seed = self._seeds()
        match_id = await asyncio.to_thread(
            self._lobby.store.matches.open, owner, first, second, deals, seed
        )
        self._waiting.append(Match(match_id, owner, first, second, deals, seed))
        self._begin()
        return match_id

    def _all(self) -> list[Match]:
        return [*self._waiting, *(run.match for run in self._playing.values())]

    def _begin(self) -> None:
        """Starts what may be played now."""
        limits = self._lobby.settings.limits
        while len(self._playing) < limits.matches:
            busy = {run.match.owner for run in self._playing.values()}
            there = Counter(self._address(owner) for owner in busy)
            free = [
                match
                for match in self._waiting
                if match.owner not in busy
                and there[self._address(match.owner)] < limits.matches_per_address
            ]
            if not free or self._lobby.closing:
                return
            match = min(free, key=lambda match: match.owner == HOUSE)
            self._waiting.remove(match)
            self._playing[match.id] = MatchRun(self._lobby, match, self._worker)
            self._lobby.spawn(self._play(self._playing[match.id]))

    def _address(self, owner: str) -> str:
        """The address of the program that asked for a match, or its name if it is not here."""
        connection = self._lobby.clients.programs.get(owner)
        return owner if connection is None else connection.address

    async def _play(self, run: MatchRun) -> None:
        match = run.match
        self._lobby.store.matches.begin(match.id)
        await run.run()
        status, match.ending = "cancelled" if match.ending else "finished", True
        try:
            margins = await run.margins()
            ended = self._lobby.store.matches.end(match.id, status, margins, run.summary(margins))
            await asyncio.wrap_future(ended)
        finally:
            del self._playing[match.id]
            self._begin()
