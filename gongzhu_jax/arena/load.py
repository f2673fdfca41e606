"""Many tables of random bots at once: `python -m gongzhu_jax.arena.load [--tables 200]`.

Needs a running server. Every seat is a connection of its own. Prints how long it took from a play
to the next player's view, and checks that every game was kept and replays to its scores.
"""

import argparse
import asyncio
import json
import random
import sys
import time
import urllib.request
from collections.abc import Sequence
from typing import Any

import numpy as np

from gongzhu_jax import records
from gongzhu_jax.arena.client import Client
from gongzhu_jax.game.cards import NUM_SEATS

_AT_ONCE = 20  # connections opened at the same time


class LoadTable:
    """Four bots at one table."""

    def __init__(self, address: str, number: int, games: int) -> None:
        self._address = address
        self._games = games
        self._random = random.Random(number)
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


async def play_all(address: str, tables: int, games: int) -> list[LoadTable]:
    gate, start = asyncio.Semaphore(_AT_ONCE), asyncio.Barrier(tables)
    made = [LoadTable(address, number, games) for number in range(tables)]
    await asyncio.gather(*(table.play(gate, start) for table in made))
    return made


def check_kept(http: str, ended: list[dict[str, Any]]) -> int:
    """How many of the games the server does not have, or has with other scores."""
    first = min(end["game"] for end in ended) - 1
    with urllib.request.urlopen(f"{http}/api/records.jsonl?after={first}", timeout=300) as answer:
        kept = [records.parse(line.decode()) for line in answer]
    with urllib.request.urlopen(f"{http}/api/results.json?after={first}", timeout=300) as answer:
        by_id = {row["game"]: row["scores"] for row in json.load(answer)}
    wrong = sum(isinstance(found, Exception) for found in records.check_records(kept))
    return wrong + sum(by_id.get(end["game"]) != end["scores"] for end in ended)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", default="127.0.0.1:8765")
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--games", type=int, default=2, help="of each table")
    options = parser.parse_args(argv)
    started = time.perf_counter()
    made = asyncio.run(play_all(f"ws://{options.address}/ws", options.tables, options.games))
    seconds = time.perf_counter() - started
    waits = 1000 * np.concatenate([table.waits for table in made])
    ended = [end for table in made for end in table.ended]
    wrong = check_kept(f"http://{options.address}", ended)
    middle, high, most = np.percentile(waits, [50, 99, 100])
    print(
        f"{len(ended)} games at {options.tables} tables in {seconds:.1f} s; {wrong} lost or wrong"
    )
    print(f"play to next view: median {middle:.1f} ms, p99 {high:.1f} ms, most {most:.1f} ms")
    return int(wrong > 0 or len(ended) != options.tables * options.games)


if __name__ == "__main__":
    sys.exit(main())
