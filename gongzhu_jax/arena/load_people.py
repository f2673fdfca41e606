"""Many people at tables of one of our players: `python -m gongzhu_jax.arena.load_people`.

Needs a running server. Each person sits at a table of three of our players and thinks for some
seconds before each card. Prints how long our players took to answer, from the card before to their
own, the time that a move is made to take included.
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

from gongzhu_jax.arena.client import Client

_AT_ONCE = 20  # connections opened at the same time


@dataclass(frozen=True)
class PeopleSettings:
    """Who sits down, and how they play."""

    tables: int = 200
    player: str = "scrofa-strong"
    think_seconds: float = 4.0  # on the mean; from half to one and a half times as long
    seconds: float = 120.0  # that are measured, after everybody has begun


class Person:
    """One person at a table of their own."""

    def __init__(self, address: str, number: int, people: PeopleSettings) -> None:
        self._client = Client(address, f"person {number}", turns_only=False)
        self._people = people
        self._random = random.Random(number)
        self.answers: list[tuple[float, float]] = []  # (when, seconds) of moves of our players
        self.games = 0

    async def play(self, gate: asyncio.Semaphore) -> None:
        """Until cancelled."""
        async with gate:
            await self._client.__aenter__()
        table = None
        try:
            seats = [None, *[self._people.player] * 3]
            table = await self._client.create(seats, 0)
            think = self._people.think_seconds
            await asyncio.sleep(self._random.uniform(0, think))
            await self._client.tell("ready", table=table, seat=0)
            before = None
            while True:
                event = await self._client.next_event(self._choose)
                now = time.perf_counter()
                if event["type"] == "played":
                    if event["seat"] != 0 and before is not None:
                        self.answers.append((now, now - before))
                    before = now
                elif event["type"] == "game_end":
                    self.games += 1
                    before = None
                    await self._client.tell("ready", table=table, seat=0)
        finally:
            if table is not None:
                await self._client.tell("leave", table=table, seat=0)  # the table is closed
            await self._client.__aexit__()

    async def _choose(self, view: dict[str, Any]) -> str:
        think = self._people.think_seconds
        await asyncio.sleep(self._random.uniform(think / 2, 3 * think / 2))
        return self._random.choice(view["legal"])


def run(address: str, people: PeopleSettings) -> dict[str, Any]:
    """What people at the server at `address`, HOST:PORT, wait for."""
    _wait_for_player(address, people.player)
    return asyncio.run(_play(address, people))


async def _play(address: str, people: PeopleSettings) -> dict[str, Any]:
    gate = asyncio.Semaphore(_AT_ONCE)
    made = [Person(f"ws://{address}/ws", number, people) for number in range(people.tables)]
    tasks = [asyncio.create_task(person.play(gate)) for person in made]
    # Nobody is measured before everybody has moved.
    while not all(person.answers for person in made):
        failed = [task for task in tasks if task.done()]
        for task in failed:
            task.result()
        await asyncio.sleep(0.2)
    begun = time.perf_counter()
    await asyncio.sleep(people.seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    waits = [seconds for person in made for when, seconds in person.answers if when >= begun]
    middle, high, most = (np.percentile(waits, [50, 99, 100])).round(3).tolist()
    return {
        "tables": people.tables,
        "player": people.player,
        "think_seconds": people.think_seconds,
        "seconds": people.seconds,
        "answers_per_second": round(len(waits) / people.seconds, 1),
        "median_seconds": middle,
        "p99_seconds": high,
        "most_seconds": most,
    }


def _wait_for_player(address: str, player: str) -> None:
    """Until the server has compiled the player, for batches too, which is not part of the load."""
    while True:
        with urllib.request.urlopen(f"http://{address}/api/info", timeout=60) as answer:
            if player in json.load(answer)["batching"]:
                return
        time.sleep(1)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", default="127.0.0.1:8765")
    for name in ("tables", "player", "think_seconds", "seconds"):
        default = getattr(PeopleSettings, name)
        parser.add_argument(
            f"--{name.replace('_', '-')}", type=type(default), default=default, dest=name
        )
    options = vars(parser.parse_args(argv))
    answers = run(options.pop("address"), PeopleSettings(**options))
    print(
        f"{answers['tables']} tables of {answers['player']}, people think "
        f"{answers['think_seconds']:g} s: {answers['answers_per_second']} answers a second, "
        f"median {answers['median_seconds']} s, p99 {answers['p99_seconds']} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
