"""One duplicate match between two players, played at tables of the arena.

Two of the first, at seats 0 and 2, play two of the second, every deal once; `datum.py` says why
once, and how the luck of the deal is taken out.
"""

import asyncio
import logging
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gongzhu_jax.arena.datum import DATUM_SHARE, datum
from gongzhu_jax.arena.deals import Deal
from gongzhu_jax.arena.effects import By, Closed, Effect, Phase
from gongzhu_jax.arena.house_games import play_deal
from gongzhu_jax.arena.lobby import Lobby
from gongzhu_jax.arena.match_deals import match_deal
from gongzhu_jax.arena.table import Table
from gongzhu_jax.arena.table_messages import seated_message
from gongzhu_jax.arena.worker import Worker
from gongzhu_jax.evaluation import stats

log = logging.getLogger("gongzhu_jax.arena")


@dataclass
class Match:
    """A match that is queued or being played. `results` has what is finished of it."""

    id: int
    owner: str  # the account that asked for it
    first: str
    second: str
    deals: int
    seed: str  # secret until the match is over
    results: dict[int, int] = field(default_factory=dict)  # by deal: points of first over second
    clock_moves: list[int] = field(default_factory=lambda: [0, 0])  # of first, of second
    ending: bool = False  # no more games begin

    @property
    def seats(self) -> tuple[str, ...]:
        return (self.first, self.second) * 2

    def add(self, deal: int, scores: list[int], late: list[list[Any]]) -> None:
        self.results[deal] = scores[0] + scores[2] - scores[1] - scores[3]
        for seat, _, by in late:
            if by == By.CLOCK:
                self.clock_moves[seat % 2] += 1


class MatchRun:
    """Plays a match to its end."""

    def __init__(self, lobby: Lobby, match: Match, worker: Worker) -> None:
        self._lobby = lobby
        self.match = match
        self._worker = worker  # for the datum, which takes seconds
        self._waiting: dict[str, tuple[int, asyncio.Future[None]]] = {}  # by table

    async def run(self) -> None:
        """Returns when all deals are played, or those that had begun when the match was cancelled
        or a program stayed away."""
        match, limits = self.match, self._lobby.settings.limits
        self._lobby.listeners.append(self._hear)
        try:
            # In this order: a table that is open now is heard of, one that was closed is stored.
            begun = self._adopt()
            for record in await asyncio.to_thread(self._lobby.store.games.of_match, match.id):
                metadata = record["metadata"]
                if metadata["deal"] not in begun:
                    match.add(metadata["deal"], record["scores"], metadata["late"])
            left = [i for i in range(match.deals) if i not in match.results and i not in begun]
            running: set[asyncio.Future] = {future for _, future in self._waiting.values()}
            for deal in left:
                while len(running) >= min(limits.match_games, self._offered()):
                    _, running = await asyncio.wait(running, return_when="FIRST_COMPLETED")
                if not await self._programs_are_here():
                    break
                running.add(self._lobby.spawn(self._play(deal)))
            if running:
                await asyncio.wait(running)
        except BaseException:
            if not self._lobby.closing:  # otherwise they go on after the restart
                self._close_tables()
            raise
        finally:
            self._lobby.listeners.remove(self._hear)

    def cancel(self, name: str) -> None:
        """No more deals begin. Those that have begun count, or a program could get out of every
        deal that goes badly: the clock plays for the one who cancels, without waiting."""
        lobby, match, now = self._lobby, self.match, time.monotonic()
        match.ending = True
        for table_id in list(self._waiting):
            at = lobby.tables[table_id]
            if at.game is None:
                lobby.apply(at, at.close("the match has ended"))
                continue
            for seat in [seat for seat, player in enumerate(match.seats) if player == name]:
                lobby.clients.unbind(at.id, seat)
                lobby.apply(at, at.leave(seat, now, match_ends=True))

    async def margins(self) -> list[float]:
        """Result over datum of every deal that was finished, in the order of the deals."""
        match, finished = self.match, sorted(self.match.results)
        if not finished:
            return []
        drawn = [match_deal(match.seed, deal) for deal in finished]
        luck = await asyncio.wrap_future(self._worker.submit(0, datum, drawn))
        results = np.array([match.results[deal] for deal in finished])
        return (results - DATUM_SHARE * luck).tolist()

    def summary(self, margins: list[float]) -> dict[str, Any]:
        match = self.match
        estimate = stats.estimate(np.array(margins)).summary() if margins else {}
        return {**estimate, "players": [match.first, match.second]}

    # games

    async def _play(self, deal: int) -> None:
        lobby, match = self._lobby, self.match
        if match.ending:
            return
        drawn = match_deal(match.seed, deal)
        own = [name if name in lobby.own.programs else None for name in match.seats]
        if None not in own:
            await self._play_in_house(deal, drawn)
            return
        rules = lobby.rules(lobby.settings.match_seconds, games=1, match=match.id)
        at = lobby.add(own, rules, lambda number: drawn)
        finished = self._expect(at, deal)
        for seat, name in enumerate(match.seats):
            if own[seat] is None:
                self._seat(at, seat, name)
        if at.preparing:
            await asyncio.gather(*(lobby.own.prepare(name) for name in set(own) if name))
        if at.phase is not Phase.CLOSED:
            lobby.apply(at, at.start(time.monotonic()))
        await finished

    async def _play_in_house(self, deal: int, drawn: Deal) -> None:
        """Our players among themselves need no table, nor anybody's time."""
        match, lobby = self.match, self._lobby
        game = await play_deal(lobby.own, match.seats, drawn)
        record = game.record(match.seats, {"match": match.id, **drawn.metadata, "late": []})
        await asyncio.wrap_future(lobby.store.games.finish("", match.id, record))
        self._finish(deal, game.scores(), [])

    def _finish(self, deal: int, scores: list[int], late: list[list[Any]]) -> None:
        match = self.match
        match.add(deal, scores, late)
        self._lobby.store.matches.progress(match.id, len(match.results), match.clock_moves)

    def _close_tables(self) -> None:
        for table_id in list(self._waiting):
            at = self._lobby.tables[table_id]
            self._lobby.apply(at, at.close("the match has ended"))

    def _seat(self, at: Table, seat: int, name: str) -> None:
        now = time.monotonic()
        token, effects = at.sit(seat, name, now)
        connection = self._lobby.clients.programs.get(name)
        if connection is None:
            effects += at.disconnect(seat, now)
        else:
            self._lobby.clients.bind(connection, at.id, seat)
            connection.send(seated_message(at.id, seat, token, self.match.id))
        self._lobby.apply(at, effects)

    def _expect(self, at: Table, deal: int) -> asyncio.Future[None]:
        """Done when the table is closed."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[at.id] = deal, future
        return future

    def _adopt(self) -> set[int]:
        """The deals of tables that were restored when the server started."""
        mine = [at for at in self._lobby.tables.values() if at.rules.match == self.match.id]
        for at in mine:
            assert at.deal is not None
            self._expect(at, at.deal.metadata["deal"])
        return {deal for deal, _ in self._waiting.values()}

    def _hear(self, at: Table, effect: Effect) -> None:
        """A table of the match has closed: its game is stored."""
        if not isinstance(effect, Closed) or at.id not in self._waiting:
            return
        deal, future = self._waiting.pop(at.id)
        if at.games_finished:
            self._finish(deal, at.totals, at.late)
        future.set_result(None)

    # programs

    def _offered(self) -> int:
        """Games at a time that both programs take."""
        programs = [self._lobby.clients.programs.get(name) for name in self.match.seats[:2]]
        return min(
            [self._lobby.settings.limits.match_games, *(c.games_offered for c in programs if c)]
        )

    async def _programs_are_here(self) -> bool:
        """Waits for a program that is away, since no game begins without it. False if the match is
        cancelled or the program stays away for too long, which ends the match."""
        lobby, match = self._lobby, self.match
        end = time.monotonic() + lobby.settings.absent_seconds
        for name in (match.first, match.second):
            while name not in lobby.own.programs and name not in lobby.clients.programs:
                if match.ending or time.monotonic() > end:
                    log.warning("match %d ends early: %s is away", match.id, name)
                    match.ending = True
                    return False
                await asyncio.sleep(0.2)
        return not match.ending
