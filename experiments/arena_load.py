"""The arena under load: `python -m experiments.arena_load [tables=200]`.

Starts a server in a process of its own. First people at many tables play one of our players:
`people` has what `gongzhu_jax.arena.load_people` says of it. Then random bots play at many tables
at once, round after round: `rounds` has, for each, what `gongzhu_jax.arena.load` says of it and the
memory that the server held after it; the same over all rounds, `memory_at_start_mb`, and
`interrupted`. Server and bots share the machine, so the times hold the work of both, and of
whatever else runs there: `machine_load` is the load average at the start.
"""

import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.cli import Result, experiment
from experiments.common.results import Workplace
from experiments.common.settings import KeptSettings, at_least
from gongzhu_jax.arena import load, load_people
from gongzhu_jax.arena.process import ServerProcess, keep_pauses_short, serve
from gongzhu_jax.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class ArenaLoadSettings(KeptSettings):
    tables: int = field(metadata=at_least(1))
    games: int = field(metadata=at_least(1))
    rounds: int = field(metadata=at_least(1))
    player: str
    people: int = field(metadata=at_least(0))
    think_seconds: float
    people_seconds: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.think_seconds, self.people_seconds) <= 0:
            raise ConfigError("the seconds of people must be positive")


def run(settings: ArenaLoadSettings, work: Workplace) -> Result:
    tables = settings.tables + settings.people
    options = ("--tables", str(tables), "--connections", str(4 * tables))
    options += ("--prepare", settings.player) if settings.people else ("--no-prepare",)
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(Path(folder) / "arena.sqlite", *options, *load.SERVER_OPTIONS) as server,
    ):
        machine_load = round(os.getloadavg()[0], 1)
        people = None
        if settings.people:
            seconds = settings.think_seconds, settings.people_seconds
            at_tables = load_people.PeopleSettings(settings.people, settings.player, *seconds)
            people = load_people.run(server.address, at_tables)
        return {**measure(server, settings), "people": people, "machine_load": machine_load}


def measure(server: ServerProcess, settings: ArenaLoadSettings) -> dict[str, Any]:
    """Random bots, round after round; what is finished counts if they are interrupted."""

    def megabytes() -> float:
        return round(server.resident_bytes() / 2**20, 1)

    keep_pauses_short()  # those of the bots would be counted as the server's
    at_start = megabytes()
    rounds: list[dict[str, Any]] = []
    loads: list[load.Load] = []
    try:
        for number in range(settings.rounds):
            seed = f"{settings.seed} {number}"
            loads.append(load.run(server.address, settings.tables, settings.games, seed))
            rounds.append({**loads[-1].summary(), "memory_mb": megabytes()})
    except KeyboardInterrupt:
        if not rounds:
            raise
    every = load.Load(
        games=sum(load.games for load in loads),
        wrong=sum(load.wrong for load in loads),
        seconds=sum(load.seconds for load in loads),
        waits=np.concatenate([load.waits for load in loads]),
    )
    return {
        **every.summary(),
        "memory_at_start_mb": at_start,
        "rounds": rounds,
        "interrupted": len(rounds) < settings.rounds,
    }


main = experiment("arena_load", ArenaLoadSettings, run)

if __name__ == "__main__":
    raise SystemExit(main())
