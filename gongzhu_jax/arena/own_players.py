"""Our players at work: each in a thread of its own, so that no move blocks the event loop and no
slow player holds up a quick one. Every player is one compiled program, for one view at a time."""

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import jax
import numpy as np

from gongzhu_jax import players
from gongzhu_jax.arena.opinion import opinion
from gongzhu_jax.arena.table import GameKey
from gongzhu_jax.errors import ArenaError, GongzhuError
from gongzhu_jax.evaluation.deals import game_keys
from gongzhu_jax.game import PublicView, make_view
from gongzhu_jax.players.protocol import Player

T = TypeVar("T")
MakePlayer = Callable[[str], Player]


@dataclass(frozen=True)
class Position:
    """What a seat knows at its turn, in plain types: all that a player is given."""

    seat: int
    hand: tuple[int, ...]
    leader: int
    plays: tuple[int, ...]

    def view(self) -> PublicView:
        return make_view(self.seat, self.hand, self.leader, self.plays)


# A position to compile with: the first lead, which is as good as any.
_WARM_UP = Position(seat=0, hand=tuple(range(0, 52, 4)), leader=0, plays=())

_ANALYSIS = "analysis"  # the thread that is no player's


class OwnPlayers:
    """The players of the package, made when they are first asked for."""

    def __init__(self, make: MakePlayer, analyst: str, analyses_waiting: int) -> None:
        self._make = make
        self._analyst = analyst
        self._analyses_waiting = analyses_waiting
        self._analyses = 0
        self._made: dict[str, Player] = {}
        self._warm: set[str] = set()  # threads whose program is compiled, or will be soon
        self._threads: dict[str, ThreadPoolExecutor] = {}

    async def prepare(self, name: str) -> None:
        """Makes a player, and has it compiled while the table fills. `ArenaError` if it cannot."""
        if name not in players.names():
            raise ArenaError("player", f"there is no player {name!r} here")
        await self._ensure_made(name)
        self._warm_up(name, self._act, name, GameKey(0, 0, 0), _WARM_UP)

    async def prepare_analyst(self) -> None:
        """The same for the analyst, whose opinions are another program than its moves."""
        await self._ensure_made(self._analyst)
        self._warm_up(_ANALYSIS, self._analyse, _WARM_UP, 0)

    async def available(self) -> list[str]:
        """Names of the players that can be made here."""
        found = []
        for name in players.names():
            try:
                await self._ensure_made(name)
            except ArenaError:
                continue
            found.append(name)
        return found

    async def act(self, name: str, key: GameKey, position: Position) -> int:
        """The card of a player."""
        return await self._run(name, self._act, name, key, position)

    async def analyse(self, position: Position, seed: int = 0) -> dict[str, Any]:
        """What the analyst thinks of a position."""
        if self._analyses >= self._analyses_waiting:
            raise ArenaError("busy", "too many positions wait for analysis; try again later")
        self._analyses += 1
        try:
            await self.prepare_analyst()
            return await self._run(_ANALYSIS, self._analyse, position, seed)
        finally:
            self._analyses -= 1

    def close(self) -> None:
        for thread in self._threads.values():
            thread.shutdown(wait=True, cancel_futures=True)

    async def _ensure_made(self, name: str) -> None:
        # One that is made is not waited for: its thread may be compiling, or thinking.
        if name not in self._made:
            await self._run(name, self._load, name)

    def _thread(self, name: str) -> ThreadPoolExecutor:
        if name not in self._threads:
            self._threads[name] = ThreadPoolExecutor(1, f"arena-{name}")
        return self._threads[name]

    async def _run(self, name: str, work: Callable[..., T], *values: Any) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread(name), functools.partial(work, *values))

    def _warm_up(self, thread: str, work: Callable[..., Any], *values: Any) -> None:
        if thread not in self._warm:
            self._warm.add(thread)
            self._thread(thread).submit(work, *values)

    # in the threads

    def _load(self, name: str) -> None:
        try:
            self._made[name] = self._made.get(name) or self._make(name)
        except (GongzhuError, ImportError) as error:  # weights or an optional package are missing
            raise ArenaError("player", f"player {name!r} cannot play here: {error}") from error

    def _act(self, name: str, key: GameKey, position: Position) -> int:
        return int(self._made[name].act(position.view(), decision_key(key, len(position.plays))))

    def _analyse(self, position: Position, seed: int) -> dict[str, Any]:
        return opinion(self._made[self._analyst], jax.random.key(seed), position.view())


def decision_key(key: GameKey, stage: int) -> jax.Array:
    """The key of one decision, as in the matches of `gongzhu_jax.evaluation`."""
    keys = game_keys(key.seed, np.array([key.number]), np.array([key.rotation]))
    return jax.random.fold_in(keys[0], stage)
