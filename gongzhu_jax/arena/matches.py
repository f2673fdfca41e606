"""Duplicate matches at the arena's tables: two against two, every deal again with the hands moved
on, as in `gongzhu_jax.evaluation`, whose deals, keys and statistics they use."""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gongzhu_jax import players
from gongzhu_jax.arena.hall import Hall
from gongzhu_jax.arena.table import Deal, GameKey
from gongzhu_jax.errors import ArenaError
from gongzhu_jax.evaluation.deals import Deals, random_deals
from gongzhu_jax.evaluation.matches import MatchResult
from gongzhu_jax.evaluation.seatings import SeatingResult, rotate
from gongzhu_jax.game.cards import NUM_SEATS

MOST_GAMES = 4
"""Of one match at the same time, so that no match keeps our players from other tables."""
MOST_MATCHES = 4

log = logging.getLogger("gongzhu_jax.arena")


@dataclass(frozen=True)
class MatchSettings:
    first: str
    second: str
    deals: int
    rotations: int
    seconds: float
    seed: int

    @property
    def seats(self) -> tuple[str, ...]:
        return (self.first, self.second) * 2


class Matches:
    """The matches that go on in a hall."""

    def __init__(self, hall: Hall, new_seed: Callable[[], int] = lambda: secrets.randbits(32)):
        self._hall = hall
        self._new_seed = new_seed
        self._running = 0

    async def start(
        self, first: str, second: str, deals: int, rotations: int, seconds: float
    ) -> int:
        """Starts a match between programs that are here, or our players; its id."""
        if first == second:
            raise ArenaError("player", "a match needs two different players")
        if rotations not in (2, 4) or not 1 <= deals <= self._hall.settings.limits.match_deals:
            most = self._hall.settings.limits.match_deals
            raise ArenaError("malformed", f"rotations is 2 or 4, deals is from 1 to {most}")
        if self._running >= MOST_MATCHES:
            raise ArenaError("full", "as many matches as there may be are being played")
        self._running += 1
        try:
            for name in (first, second):
                await self._check_here(name)
            chosen = MatchSettings(first, second, deals, rotations, seconds, self._new_seed())
            match_id = await asyncio.to_thread(
                self._hall.store.open_match, first, second, deals, rotations, chosen.seed
            )
        except BaseException:
            self._running -= 1
            raise
        self._hall.spawn(self._run(match_id, chosen))
        return match_id

    async def _check_here(self, name: str) -> None:
        if name in players.names():
            await self._hall.own.prepare(name)
        elif name not in self._hall.programs:
            raise ArenaError("player", f"{name!r} is not here and ready for matches")

    async def _run(self, match_id: int, chosen: MatchSettings) -> None:
        started = time.monotonic()
        try:
            deals = await asyncio.to_thread(random_deals, chosen.seed, chosen.deals)
            points = await self._play(match_id, chosen, deals)
            result = MatchResult(
                SeatingResult(
                    names=chosen.seats,
                    deals=deals,
                    points=points,
                    states=None,
                    seconds=time.monotonic() - started,
                    interrupted=False,
                )
            )
            done = self._hall.store.finish_match(
                match_id, result.margins.tolist(), result.summary()
            )
            await asyncio.wrap_future(done)
        except BaseException:
            self._hall.store.lose_match(match_id)
            raise
        finally:
            self._running -= 1

    async def _play(self, match_id: int, chosen: MatchSettings, deals: Deals) -> np.ndarray:
        """Points of all seats, [deals, rotations, 4]."""
        points = np.zeros((len(deals), chosen.rotations, NUM_SEATS), np.int32)
        room = asyncio.Semaphore(self._games_at_once(chosen))

        async def play_one(deal: int, rotation: int) -> None:
            async with room:
                drawn = _rotated(chosen, deals, deal, rotation)
                at, scores = self._hall.create_match_table(
                    chosen.seats, drawn, match_id, chosen.seconds
                )
                self._hall.apply(at, at.start(time.monotonic()))
                points[deal, rotation] = await scores

        async with asyncio.TaskGroup() as group:
            for deal in range(len(deals)):
                for rotation in range(chosen.rotations):
                    group.create_task(play_one(deal, rotation))
        return points

    def _games_at_once(self, chosen: MatchSettings) -> int:
        offers = [self._hall.programs.get(name) for name in (chosen.first, chosen.second)]
        return min([MOST_GAMES, *(offer.games_offered for offer in offers if offer is not None)])


def _rotated(chosen: MatchSettings, deals: Deals, deal: int, rotation: int) -> Deal:
    owners, leader = rotate(deals.owners[deal], deals.leaders[deal], rotation)
    number = int(deals.numbers[deal])
    return Deal(
        owners.tolist(),
        int(leader),
        GameKey(chosen.seed, number, rotation),
        {"deal": number, "rotation": rotation},
    )
