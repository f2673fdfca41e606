"""For whoever runs the server: stopping it, looking at it, putting it behind a proxy."""

import asyncio
import contextlib
import re
import signal
import sqlite3
import subprocess
import sys
import urllib.error
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from gongzhu_jax.arena.client import Client
from gongzhu_jax.arena.process import wait_until
from gongzhu_jax.arena.settings import Settings
from gongzhu_jax.errors import ArenaError
from tests.arena.live_server import get, in_process, in_thread, run

RANDOM = [None, "random", "random", "random"]


ENDLESS_COMPILING = """
import sys, time
from gongzhu_jax.arena import __main__ as arena, player_program

usual = player_program.PlayerProgram.compile

def compile(program, size):
    usual(program, size) if program.player.name == "random" else time.sleep(3600)

player_program.PlayerProgram.compile = compile
sys.exit(arena.main())
"""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_stop_does_so_soon_and_its_games_go_on(
    tmp_path: Path, how: signal.Signals
) -> None:
    database, seats = tmp_path / "arena.sqlite", {}
    with in_process(database, program=["-c", ENDLESS_COMPILING]) as (arena, process):

        async def play() -> list[str]:
            async with Client(arena.ws, "ann") as client:
                seated = await client.ask("create", seats=RANDOM, seat=0)
                where = {"table": seated["table"], "seat": 0}
                seats.update(where, token=seated["token"])
                await client.tell("ready", **where)
                await client.next_event(lambda view: view["legal"][0])
                await client.create([None, "greed", "random", "random"], 0)  # is being compiled
                process.send_signal(how)
                said = []
                while True:
                    said.append((await client.events.get())["type"])
                    if said[-1] == "error":
                        return said

        assert "closing" in run(play)
        assert process.wait(timeout=60) in (0, -signal.SIGTERM)  # and no traceback
    with in_process(database) as (arena, _):

        async def go_on() -> dict[str, Any]:
            async with Client(arena.ws, "ann") as client:
                await client.ask("reconnect", **seats)
                event = {"type": ""}
                while event["type"] != "game_end":
                    event = await client.next_event(lambda view: view["legal"][0])
                return event

        ended = run(go_on)
        assert get(arena, f"/api/games/{ended['game']}")["metadata"]["late"] == []


def test_health_and_metrics(tmp_path: Path) -> None:
    with in_thread(Settings(str(tmp_path / "arena.sqlite"), prepare=False)) as arena:
        assert get(arena, "/healthz") == {"status": "ok"}

        async def play() -> str:
            async with Client(arena.ws, "ann") as client:
                for kind in ("sit", "leave"):
                    with pytest.raises(ArenaError):
                        await client.ask(kind, table="nowhere", seat=0)
                await client.create([None, None, None, None], 0)
                return await asyncio.to_thread(get, arena, "/metrics")

        text = run(play)
        metrics = {
            (sample.name, *sample.labels.values()): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }
    assert metrics["arena_connections",] == 1
    assert metrics["arena_tables", "waiting"] == 1
    assert metrics["arena_errors_total", "unknown"] == 2
    assert metrics["arena_messages_total", "create"] == 1


def test_a_server_that_is_about_to_stop_says_so_and_begins_nothing(tmp_path: Path) -> None:
    with in_thread(Settings(str(tmp_path / "arena.sqlite"), prepare=False)) as arena:

        async def stop() -> list[str]:
            async with Client(arena.ws, "ann") as client:
                assert arena.loop is not None
                assert arena.drain is not None
                arena.loop.call_soon_threadsafe(arena.drain)
                said = [(await client.events.get())["type"]]
                with pytest.raises(ArenaError) as caught:
                    await client.create(RANDOM, 0)
                return [*said, caught.value.code]

        assert run(stop) == ["closing", "closing"]
        with pytest.raises(urllib.error.HTTPError) as caught:
            get(arena, "/healthz")
        with caught.value as error:
            assert (error.code, error.read()) == (503, b'{"status":"closing"}')


def test_logs_have_times(tmp_path: Path) -> None:
    database = tmp_path / "arena.sqlite"
    with in_process(database) as (arena, process):

        async def sit() -> None:
            async with Client(arena.ws, "ann") as client:
                await client.create(RANDOM, 0)

        run(sit)
        wait_until(lambda: _open_tables(database) == 1, 60)
        process.kill()
    log = tmp_path / "log"
    with log.open("w") as out:
        command = [sys.executable, "-m", "gongzhu_jax.arena", "--port", "0", "--no-prepare"]
        again = subprocess.Popen([*command, "--database", str(database)], stderr=out)
        try:
            wait_until(lambda: "go on where they were" in log.read_text(), 60)
        finally:
            again.kill()
            again.wait()
    assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", log.read_text())


def _open_tables(database: Path) -> int:
    with contextlib.closing(sqlite3.connect(database)) as db:
        return db.execute("SELECT count(*) FROM open_tables").fetchone()[0]


def test_behind_a_proxy_that_takes_a_path_away(tmp_path: Path) -> None:
    with in_process(tmp_path / "arena.sqlite", "--root-path", "/games") as (arena, _):
        assert get(arena, "/openapi.json")["servers"] == [{"url": "/games"}]
        assert "<html" in get(arena, "/")
        assert get(arena, "/static/style.css")

        async def enter() -> str:
            async with Client(arena.ws, "ann") as client:
                return client.welcome["name"]

        assert run(enter) == "ann"
