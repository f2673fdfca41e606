"""Our players in an arena: made, compiled before they are needed, and asked.

Each has threads of its own, so that no move blocks the event loop and no slow player holds up a
quick one. Compiling has a thread of its own too: players that a table waits for come first.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import jax

from gongzhu_jax import players
from gongzhu_jax.arena.deals import GameKey
from gongzhu_jax.arena.opinion import opinion
from gongzhu_jax.arena.player_program import SIZES, PlayerProgram
from gongzhu_jax.arena.position import Position, forced_position
from gongzhu_jax.arena.worker import Worker
from gongzhu_jax.errors import ArenaError, GongzhuError
from gongzhu_jax.players.protocol import Player

MakePlayer = Callable[[str], Player]
log = logging.getLogger("gongzhu_jax.arena")

_WANTED, _SOON, _FASTER = 0, 1, 2
"""Order of compiling: what a table waits for, what one may ask for, and larger batches."""


class OwnPlayers:
    """The players of the package that can play here."""

    def __init__(self, make: MakePlayer, analyst: str, analyses_waiting: int) -> None:
        self._make = make
        self._analyst = analyst
        self._analyses_waiting = analyses_waiting
        self._analyses = 0
        self._thinking = ThreadPoolExecutor(1, "arena-analysis")
        self._compiler = Worker("arena-compiler")
        self._wanted: dict[str, Future] = {}  # by player: done when it can play
        self.programs: dict[str, PlayerProgram] = {}

    async def open(self) -> None:
        """Makes the players that can be made here."""
        loop = asyncio.get_running_loop()
        for name in players.names():
            try:
                made = await loop.run_in_executor(None, self._make, name)
            except (GongzhuError, ImportError) as error:  # weights or a package are missing
                log.info("player %s cannot play here: %s", name, error)
                continue
            self.programs[name] = PlayerProgram(made)

    def close(self) -> None:
        """Does not wait: a program that is being compiled cannot be interrupted."""
        self._compiler.close()
        self._thinking.shutdown(wait=False, cancel_futures=True)
        for program in self.programs.values():
            program.close()

    @property
    def available(self) -> list[str]:
        return list(self.programs)

    def check(self, name: str) -> None:
        if name not in self.programs:
            raise ArenaError("player", "there is no such player here")

    @property
    def preparing(self) -> list[str]:
        """Players that would have to be compiled first."""
        return [name for name, program in self.programs.items() if not program.ready]

    @property
    def batching(self) -> list[str]:
        """Players that are compiled for batches too."""
        return [name for name, program in self.programs.items() if program.batches]

    def is_ready(self, name: str) -> bool:
        """Whether a player can move without being compiled first."""
        return self.programs[name].ready

    def prepare_early(self, names: Iterable[str]) -> None:
        """Has players compiled, one after the other, in case they are wanted; larger batches when
        all of them can play."""
        programs = [self.programs[name] for name in names if name in self.programs]
        for program in programs:
            self._compiler.submit(_SOON, program.compile, SIZES[0])
        if self._analyst in names:
            self._compiler.submit(_SOON, self._prepare_analyst)
        for program in programs:
            for size in SIZES[1:]:
                self._compiler.submit(_FASTER, program.compile, size)

    async def prepare(self, name: str) -> None:
        """Returns when a player can move."""
        self.check(name)
        program = self.programs[name]
        if not program.ready:
            if name not in self._wanted:
                self._wanted[name] = self._compiler.submit(_WANTED, program.compile, SIZES[0])
            # Shielded: others may wait for it too.
            await asyncio.shield(asyncio.wrap_future(self._wanted[name]))

    async def act(self, name: str, key: GameKey, position: Position) -> int:
        """The card of a player."""
        await self.prepare(name)
        return await self.programs[name].act(key, position)

    async def analyse(self, position: Position, seed: int = 0) -> dict[str, Any]:
        """What the analyst thinks of a position."""
        self.check(self._analyst)
        if self._analyses >= self._analyses_waiting:
            raise ArenaError("busy", "too many positions wait for analysis; try again later")
        self._analyses += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._thinking, self._analyse, position, seed)
        finally:
            self._analyses -= 1

    def _prepare_analyst(self) -> None:
        if self._analyst in self.programs:
            self._thinking.submit(self._analyse, forced_position(), 0).result()

    def _analyse(self, position: Position, seed: int) -> dict[str, Any]:
        player = self.programs[self._analyst].player
        return opinion(player, jax.random.key(seed), position.view())
