"""One of our players at work: its compiled programs, and the positions that wait for them.

Positions from all tables are decided in batches, because a batch of sixteen takes far less than
sixteen times as long as one position. The choice in one game never depends on the rest of a batch.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax.arena.deals import GameKey
from gongzhu_jax.arena.position import Position, forced_position
from gongzhu_jax.evaluation.deals import game_keys
from gongzhu_jax.players.protocol import Player

SIZES = (1, 16)
"""Batches that programs are compiled for. The first is enough to play; the others are for speed."""

WORKERS = 2
"""Batches of a player at a time: one alone does not keep two cores busy."""

_FILL = (GameKey(0, 0, 0), forced_position())
Decision = tuple[GameKey, Position]


class PlayerProgram:
    def __init__(self, player: Player) -> None:
        self.player = player
        self._programs: dict[int, Callable[..., jax.Array]] = {}  # by size
        self._seconds: dict[int, float] = {}  # by size: how long a batch took lately
        self._waiting: list[tuple[Decision, asyncio.Future[int]]] = []
        self._workers: set[asyncio.Task] = set()
        self._threads = ThreadPoolExecutor(WORKERS, f"arena-{player.name}")

    @property
    def ready(self) -> bool:
        return bool(self._programs)

    @property
    def batches(self) -> bool:
        return len(self._programs) == len(SIZES)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def compile(self, size: int) -> None:
        """Takes seconds, or less if the compiled program is in the cache of jax."""
        if size in self._programs:
            return
        batch = _batch([_FILL] * size, size)
        program = jax.jit(self.player.act_batch).lower(self.player.params, *batch).compile()
        np.asarray(program(self.player.params, *batch))  # the first call sets memory up
        self._programs[size] = program

    async def act(self, key: GameKey, position: Position) -> int:
        """The card of the player."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[int] = loop.create_future()
        self._waiting.append(((key, position), future))
        if len(self._workers) < WORKERS:
            worker = loop.create_task(self._work())
            self._workers.add(worker)
            worker.add_done_callback(self._workers.discard)
        return await future

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _work(self) -> None:
        while self._waiting:
            size = self._best_size(len(self._waiting))
            batch, self._waiting = self._waiting[:size], self._waiting[size:]
            await self._decide(batch, size)

    def _best_size(self, waiting: int) -> int:
        """The size with the most decisions a second, as far as is known."""
        return min(
            self._programs, key=lambda size: self._seconds.get(size, 0.0) / min(size, waiting)
        )

    async def _decide(self, batch: list[tuple[Decision, asyncio.Future[int]]], size: int) -> None:
        loop = asyncio.get_running_loop()
        try:
            started = time.monotonic()
            decisions = [decision for decision, _ in batch]
            cards = await loop.run_in_executor(self._threads, self._run, decisions, size)
            taken = time.monotonic() - started
            self._seconds[size] = 0.8 * self._seconds.get(size, taken) + 0.2 * taken
        except Exception as error:
            if len(batch) == 1:
                _settle(batch[0][1], error)
                return
            for one in batch:  # one bad position must not spoil the others
                await self._decide([one], min(self._programs))
            return
        for (_, future), card in zip(batch, cards, strict=True):
            _settle(future, card)

    def _run(self, decisions: Sequence[Decision], size: int) -> list[int]:
        cards = self._programs[size](self.player.params, *_batch(decisions, size))
        return np.asarray(cards)[: len(decisions)].tolist()


def _batch(decisions: Sequence[Decision], size: int) -> tuple[jax.Array, Any]:
    """Keys and views of the decisions, filled up to `size`."""
    filled = [*decisions, *[_FILL] * (size - len(decisions))]
    keys = jnp.stack([decision_key(key, len(position.plays)) for key, position in filled])
    views = [position.view() for _, position in filled]
    return keys, jax.tree.map(lambda *leaves: np.stack(leaves), *views)


def decision_key(key: GameKey, stage: int) -> jax.Array:
    """The key of one decision, as in the matches of `gongzhu_jax.evaluation`."""
    keys = game_keys(key.seed, np.array([key.number]), np.array([key.rotation]))
    return jax.random.fold_in(keys[0], stage)


def _settle(future: asyncio.Future[int], outcome: int | Exception) -> None:
    if future.done():
        return  # whoever waited has gone
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
