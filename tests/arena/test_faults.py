"""The server as a process: killed in the middle, under load, and what it says afterwards."""

import asyncio
import gc
import json
import os
import random
import sqlite3
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
from gongzhu_jax.arena.settings import Settings
from tests.arena.live_server import Arena, get, in_process, post, run

LAST_MOMENT = 8
"""Cards that may have to be played again: those of a second or so, as our players take time."""


class Seats:
    """Clients that play until the server is gone, and come back to their seats at the next one."""

    def __init__(self, count: int) -> None:
        self.kept: list[dict[str, Any]] = [{} for _ in range(count)]  # table, seat and token
        self.plays: list[list[str]] = [[] for _ in range(count)]  # as last seen
        self.ended: list[dict[str, Any]] = []

    async def play_until_gone(self, arena: Arena) -> None:
        every = range(len(self.kept))
        await asyncio.gather(*(self._play(arena, n) for n in every), return_exceptions=True)

    async def _play(self, arena: Arena, number: int) -> None:
        async with Client(arena.ws, f"k{number}") as client:
            seated = await client.ask("create", seats=[None, "random", "random", "random"], seat=0)
            where = {"table": seated["table"], "seat": 0}
            self.kept[number] = {**where, "token": seated["token"]}
            await client.tell("ready", **where)
            while True:
                await self._next(client, number)

    async def come_back(self, arena: Arena) -> list[dict[str, Any]]:
        """Finishes one game each; the ends."""
        return await asyncio.gather(*(self._finish(arena, n) for n in range(len(self.kept))))

    async def _finish(self, arena: Arena, number: int) -> dict[str, Any]:
        before = self.plays[number]
        async with Client(arena.ws, f"k{number}") as client:
            await client.ask("reconnect", **self.kept[number])
            event = await self._next(client, number)
            seen = self.plays[number]
            shorter = min(len(seen), len(before))
            assert seen[:shorter] == before[:shorter]  # the same game, at most a moment earlier
            assert len(before) - shorter <= LAST_MOMENT
            while event["type"] != "game_end":
                event = await self._next(client, number)
        return event

    async def _next(self, client: Client, number: int) -> dict[str, Any]:
        event = await client.next_event(lambda view: random.choice(view["legal"]))
        if event["type"] in ("turn", "view"):
            self.plays[number] = event["view"]["plays"]
        elif event["type"] == "game_end":
            self.ended.append(event)
            await client.tell("ready", table=event["table"], seat=0)
        return event


@pytest.mark.parametrize("tables", [3, pytest.param(50, marks=pytest.mark.slow)])
def test_games_go_on_after_the_server_was_killed(tmp_path: Path, tables: int) -> None:
    database, seats = tmp_path / "killed.sqlite", Seats(tables)
    with in_process(database) as (arena, process):

        async def play_and_kill() -> None:
            playing = asyncio.create_task(seats.play_until_gone(arena))
            while min(len(plays) for plays in seats.plays) < LAST_MOMENT + 4:
                await asyncio.sleep(0.05)
            process.kill()
            await playing

        run(play_and_kill)
    ended_before = list(seats.ended)
    with sqlite3.connect(database) as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    db.close()
    with in_process(database) as (arena, _):
        ended = run(lambda: seats.come_back(arena))
        assert get(arena, "/api/lost") == []
        kept = [json.loads(line) for line in get(arena, "/api/records.jsonl").splitlines()]
    assert len(kept) >= len(ended) == tables
    assert all(record["metadata"]["late"] == [] for record in kept)
    scores = [record["scores"] for record in kept]
    assert all(end["scores"] in scores for end in [*ended_before, *ended])
    assert len(records.replay_records([records.parse(json.dumps(r)) for r in kept])) == len(kept)


@pytest.mark.slow
def test_two_hundred_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with in_process(tmp_path / "load.sqlite", *load.SERVER_OPTIONS) as (arena, _):
        address = arena.http.removeprefix("http://")
        assert load.main(["--address", address, "--tables", "200", "--games", "2"]) == 0
    said = capsys.readouterr().out
    assert "400 games at 200 tables" in said
    with capsys.disabled():
        print(said)


@pytest.mark.slow
def test_memory_does_not_grow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ten thousand games, without the network; the first thousand are to get going."""
    service = make_service(Settings(str(tmp_path / "long.sqlite")))

    async def play() -> list[int]:
        connection = service.lobby.clients.connect("10.0.0.1")
        session = Session(service.lobby, connection, service.analyses, service.people)
        await session.receive(
            '{"type": "hello", "protocol": 1, "name": "long", "turns_only": true}'
        )
        await session.receive('{"type": "create", "seats": [null, null, null, null], "seat": 0}')
        (table,) = service.lobby.tables
        for seat in (1, 2, 3):
            await session.receive(json.dumps({"type": "sit", "table": table, "seat": seat}))
        sizes = []
        for _ in range(10):
            await play_games(session, connection, table, 1000)
            gc.collect()
            sizes.append(resident_bytes(os.getpid()) >> 20)
        return sizes

    try:
        megabytes = asyncio.run(play())
        assert service.store.games.count() == 10_000
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


@pytest.mark.slow
def test_a_match_goes_on_after_the_server_was_killed(tmp_path: Path) -> None:
    """Every deal is played once, those that had begun from where they were."""
    database, deals = tmp_path / "killed.sqlite", 40
    hands: set[tuple[str, ...]] = set()

    def choose(view: dict[str, Any]) -> str:
        if len(view["hand"]) == 13:
            hands.add(tuple(view["hand"]))
        return view["legal"][0]

    with in_process(database) as (arena, process):
        _, account = post(arena, "/api/accounts", name="kept-bot")

        async def play_and_kill() -> int:
            async with Client(arena.ws, account["name"], account["token"]) as client:
                playing = asyncio.create_task(client.play_matches(choose))
                await asyncio.sleep(0.5)
                body = {**account, "opponent": "random", "deals": deals}
                _, started = await asyncio.to_thread(lambda: post(arena, "/api/matches", **body))
                path = f"/api/matches/{started['match']}"
                while (await asyncio.to_thread(get, arena, path))["deals_finished"] < 5:
                    await asyncio.sleep(0.2)
                process.kill()
                await asyncio.wait([playing])
            return started["match"]

        match_id = run(play_and_kill)
    with in_process(database) as (arena, _):

        async def go_on() -> dict[str, Any]:
            async with Client(arena.ws, account["name"], account["token"]) as client:
                playing = asyncio.create_task(client.play_matches(choose))
                match = {"status": "playing"}
                while match["status"] in ("queued", "playing"):
                    await asyncio.sleep(0.5)
                    match = await asyncio.to_thread(get, arena, f"/api/matches/{match_id}")
                playing.cancel()
                return match

        match = run(go_on, 900)
        games = get(arena, f"/api/records.jsonl?match={match_id}").splitlines()
    assert (match["status"], match["deals_finished"]) == ("finished", deals)
    assert sorted(json.loads(game)["metadata"]["deal"] for game in games) == list(range(deals))
    assert len(hands) == 2 * deals
