"""The server as a process: killed in the middle, under load, and what it says afterwards."""

import asyncio
import gc
import json
import os
import random
import sqlite3
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from gongzhu_jax import records
from gongzhu_jax.arena import load
from gongzhu_jax.arena.client import Client
from gongzhu_jax.arena.connection import Connection
from gongzhu_jax.arena.process import resident_bytes
from gongzhu_jax.arena.service import make_service
from gongzhu_jax.arena.session import Session
from gongzhu_jax.arena.settings import Limits, Settings
from gongzhu_jax.errors import ArenaError
from tests.arena.live_server import Arena, in_process

GENEROUS = Limits(messages_per_second=1e9, message_burst=10**9)


async def play_until_gone(arena: Arena, tables: int) -> list[dict[str, Any]]:
    """Games at many tables from a few connections, until the server is no more."""
    ended: list[dict[str, Any]] = []

    async def play(number: int) -> None:
        rng = random.Random(number)
        async with Client(arena.ws, f"k{number}") as client:
            table = await client.create([None, "random", "random", "random"], 0)
            await client.tell("ready", table=table, seat=0)
            while True:
                event = await client.next_event(lambda view: rng.choice(view["legal"]))
                if event["type"] == "game_end":
                    ended.append(event)
                    await client.tell("ready", table=table, seat=0)

    await asyncio.gather(*(play(number) for number in range(tables)), return_exceptions=True)
    return ended


@pytest.mark.slow
def test_kill_during_fifty_games_loses_no_finished_one(tmp_path: Path) -> None:
    database = tmp_path / "killed.sqlite"
    with in_process(database) as (arena, process):

        async def play_and_kill() -> list[dict[str, Any]]:
            playing = asyncio.create_task(play_until_gone(arena, 50))
            while _count(database) < 60:
                await asyncio.sleep(0.1)
            process.kill()
            return await playing

        ended = asyncio.run(play_and_kill())
    assert len(ended) >= 50
    with sqlite3.connect(database) as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        kept = {row[0]: records.parse(row[1]) for row in db.execute("SELECT id, record FROM games")}
    db.close()
    assert all(list(kept[end["game"]].scores) == end["scores"] for end in ended)
    assert len(records.replay_records(list(kept.values()))) == len(kept)
    with in_process(database) as (arena, process):
        lost = json.load(urllib.request.urlopen(f"{arena.http}/api/lost"))
        assert 1 <= len(lost) <= 50
        assert lost[0]["reason"] == "the server stopped"
        assert _count(database) == len(kept)

        async def come_back() -> str:
            async with Client(arena.ws, "k0") as client:
                try:
                    await client.ask("reconnect", table=lost[0]["table_id"], seat=0, token="x")
                except ArenaError as error:
                    return error.code
            return "found"

        assert asyncio.run(come_back()) == "unknown"


@pytest.mark.slow
def test_two_hundred_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with in_process(tmp_path / "load.sqlite") as (arena, _):
        address = arena.http.removeprefix("http://")
        assert load.main(["--address", address, "--tables", "200", "--games", "2"]) == 0
    said = capsys.readouterr().out
    assert "400 games at 200 tables" in said
    with capsys.disabled():
        print(said)


@pytest.mark.slow
def test_memory_does_not_grow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ten thousand games, without the network; the first thousand are to get going."""
    service = make_service(Settings(str(tmp_path / "long.sqlite"), limits=GENEROUS))

    async def play() -> list[int]:
        connection = service.hall.connect()
        session = Session(service.hall, connection)
        await session.receive(
            '{"type": "hello", "protocol": 1, "name": "long", "turns_only": true}'
        )
        await session.receive('{"type": "create", "seats": [null, null, null, null], "seat": 0}')
        (table,) = service.hall.tables
        for seat in (1, 2, 3):
            await session.receive(json.dumps({"type": "sit", "table": table, "seat": seat}))
        found = []
        for _ in range(10):
            await play_games(session, connection, table, 1000)
            gc.collect()
            found.append(resident_bytes(os.getpid()) >> 20)
        return found

    try:
        megabytes = asyncio.run(play())
        assert service.store.count_games() == 10_000
    finally:
        service.own.close()
        service.store.close()
    with capsys.disabled():
        print(f"memory after each 1000 games, MB: {megabytes}")
    assert megabytes[-1] - megabytes[0] < 20


async def play_games(session: Session, connection: Connection, table: str, games: int) -> None:
    for _ in range(games):
        for seat in range(4):
            await session.receive(json.dumps({"type": "ready", "table": table, "seat": seat}))
        message = {"type": ""}
        while message["type"] != "game_end":
            message = json.loads(await connection.outgoing.get() or "")
            if message["type"] == "turn":
                view = message["view"]
                play = {"type": "play", "table": table, "seat": view["seat"]}
                play |= {"stage": view["stage"], "card": view["legal"][-1]}
                await session.receive(json.dumps(play))


def _count(database: Path) -> int:
    with sqlite3.connect(database) as db:
        found = db.execute("SELECT count(*) FROM games").fetchone()[0]
    db.close()
    return found
