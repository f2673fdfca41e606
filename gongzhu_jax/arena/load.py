"""Many tables of random bots at once: `python -m gongzhu_jax.arena.load [--tables 200]`.

Needs a running server. Every seat is a connection of its own, and bots play at once when it is
their turn, so that a card is under way at every table all the time. Prints how long it took from
a play to the next player's view, and checks that every game was kept and replays to its scores.
"""

import argparse
import asyncio
import json
import random
import sys
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gongzhu_jax import records
from gongzhu_jax.arena.client import Client
from gongzhu_jax.arena.process import keep_pauses_short
from gongzhu_jax.game.cards import NUM_SEATS

SERVER_OPTIONS = ("--connections-per-address", "10000", "--tables-per-address", "10000")
"""The whole load comes from one machine, which is one address to the server."""

_AT_ONCE = 20  # connections opened at the same time


class LoadTable:
    """Four bots at one table."""

    def __init__(self, address: str, seed: str, games: int) -> None:
        self._address = address
        self._games = games
        self._random = random.Random(seed)
        self._played = 0.0  # when the last card was sent
        self.waits: list[float] = []
        self.ended: list[dict[str, Any]] = []

    def choose(self, view: dict[str, Any]) -> str:
        now = time.perf_counter()
        if view["stage"] > 0:
            self.waits.append(now - self._played)
        card = self._random.choice(view["legal"])
        self._played = time.perf_counter()
        return card

    async def play(self, gate: asyncio.Semaphore, start: asyncio.Barrier) -> None:
        clients = [Client(self._address, f"load {seat}") for seat in range(NUM_SEATS)]
        async with gate:
            for client in clients:
                await client.__aenter__()
        try:
            table = await clients[0].create([None] * NUM_SEATS, 0)
            for seat in range(1, NUM_SEATS):
                await clients[seat].ask("sit", table=table, seat=seat)
            await start.wait()
            await asyncio.gather(
                *(self._play_seat(client, table, seat) for seat, client in enumerate(clients))
            )
        finally:
            for client in clients:
                await client.__aexit__()

    async def _play_seat(self, client: Client, table: str, seat: int) -> None:
        for _ in range(self._games):
            await client.tell("ready", table=table, seat=seat)
            event = {"type": ""}
            while event["type"] != "game_end":
                event = await client.next_event(self.choose)
            if seat == 0:
                self.ended.append(event)
        await client.ask("leave", table=table, seat=seat)


@dataclass(frozen=True)
class Load:
    """What the tables saw."""

    games: int  # that were finished
    wrong: int  # games that are lost, or kept with other scores
    seconds: float
    waits: np.ndarray  # seconds from a play to the next view, of all plays but the first ones

    def summary(self) -> dict[str, Any]:
        middle, high, most = (1000 * np.percentile(self.waits, [50, 99, 100])).round(1).tolist()
        return {
            "games": self.games,
            "lost_or_wrong": self.wrong,
            "seconds": round(self.seconds, 1),
            "plays_per_second": round(len(self.waits) / self.seconds),
            "median_ms": middle,
            "p99_ms": high,
            "most_ms": most,
        }


def run(address: str, tables: int, games: int, seed: str = "") -> Load:
    """Plays `games` games at each of `tables` tables of the server at `address`, HOST:PORT."""
    started = time.perf_counter()
    made = asyncio.run(_play_all(f"ws://{address}/ws", tables, games, seed))
    seconds = time.perf_counter() - started
    ended = [end for table in made for end in table.ended]
    wrong = tables * games - len(ended) + _count_wrong(f"http://{address}", ended)
    return Load(len(ended), wrong, seconds, np.concatenate([table.waits for table in made]))


async def _play_all(address: str, tables: int, games: int, seed: str) -> list[LoadTable]:
    gate, start = asyncio.Semaphore(_AT_ONCE), asyncio.Barrier(tables)
    made = [LoadTable(address, f"{seed} {number}", games) for number in range(tables)]
    await asyncio.gather(*(table.play(gate, start) for table in made))
    return made


def _count_wrong(http: str, ended: list[dict[str, Any]]) -> int:
    """How many of the games the server does not have, or has with other scores."""
    first = min(end["game"] for end in ended) - 1
    with urllib.request.urlopen(f"{http}/api/records.jsonl?after={first}", timeout=300) as answer:
        kept = [records.parse(line.decode()) for line in answer]
    with urllib.request.urlopen(f"{http}/api/results.json?after={first}", timeout=300) as answer:
        by_id = {row["game"]: row["scores"] for row in json.load(answer)}
    wrong = sum(isinstance(checked, Exception) for checked in records.check_records(kept))
    return wrong + sum(by_id.get(end["game"]) != end["scores"] for end in ended)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", default="127.0.0.1:8765")
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--games", type=int, default=2, help="of each table")
    options = parser.parse_args(argv)
    keep_pauses_short()  # those of the bots would be counted as the server's
    load = run(options.address, options.tables, options.games)
    summary = load.summary()
    print(
        f"{load.games} games at {options.tables} tables in {load.seconds:.1f} s; "
        f"{load.wrong} lost or wrong"
    )
    print(
        f"play to next view: median {summary['median_ms']} ms, p99 {summary['p99_ms']} ms, "
        f"most {summary['most_ms']} ms"
    )
    return int(load.wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
