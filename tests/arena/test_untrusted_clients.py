"""What an untrusted client may try, against a server with its default settings."""

import asyncio
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import urllib.error
from collections.abc import Generator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from gongzhu_jax import players
from gongzhu_jax.arena.client import Client
from gongzhu_jax.arena.names import check_name, check_not_ours
from gongzhu_jax.arena.settings import Limits, Settings
from gongzhu_jax.errors import ArenaError
from tests.arena.live_server import Arena, get, in_process, in_thread, post, post_raw, run

RANDOM = [None, "random", "random", "random"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Arena, int]]:
    """The arena and the id of its process."""
    with in_process(tmp_path_factory.mktemp("untrusted") / "arena.sqlite") as (running, process):
        yield running, process.pid


@pytest.fixture(scope="module")
def arena(server: tuple[Arena, int]) -> Arena:
    return server[0]


def worked_seconds(pid: int) -> float:
    """Time of the processor that a process has used. What others do on the machine is not in it."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def code(work: Any) -> str:
    """The code of the error, "" if there is none."""
    try:
        await work
    except ArenaError as error:
        return error.code
    return ""


def test_a_long_body_is_refused_unread_and_nobody_waits_for_it(server: tuple[Arena, int]) -> None:
    arena, pid = server
    body = b'{"name": [' + b"1," * 10_000_000 + b"1]}"

    async def ping() -> tuple[list[float], Any]:
        works = []  # between a ping and its answer
        async with Client(arena.ws, "pinger") as client:
            sending = asyncio.create_task(asyncio.to_thread(send_until_answered, arena, body))
            while not sending.done():
                before = worked_seconds(pid)
                await client.ask("ping")
                works.append(worked_seconds(pid) - before)
                await asyncio.sleep(0.01)
            return works, await sending

    works, answer = run(ping)
    assert b"413" in answer.split(b"\r\n")[0]
    assert len(answer) < 1000
    assert max(works) < 2  # it was 15.8 s


def send_until_answered(arena: Arena, body: bytes) -> bytes:
    """As a stranger would: whatever the server says meanwhile is read at the end."""
    host, port = arena.http.removeprefix("http://").split(":")
    head = (
        f"POST /api/accounts HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), timeout=60) as stranger:
        stranger.sendall(head.encode())
        answer = b""
        with contextlib.suppress(ConnectionError):
            for start in range(0, len(body), 2**16):
                stranger.sendall(body[start : start + 2**16])
                stranger.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    answer += stranger.recv(2**16)
                stranger.settimeout(60)
            while more := stranger.recv(2**20):
                answer += more
        return answer


@pytest.mark.parametrize(
    "body",
    [
        b'{"name": "\\ud800"}',
        b"\xff\xfe",
        b"[" * 4000,
        b'{"name": "x", "name2": "secret-input"}',
        b'{"name": "x", "secret-input": 1}',
        b'{"name": ["secret-input"]}',
    ],
)
def test_a_malformed_body_gets_a_short_answer_without_itself(arena: Arena, body: bytes) -> None:
    status, answer = post_raw(arena, "/api/accounts", body)
    assert (status, answer["code"]) == (400, "malformed")
    assert "secret-input" not in json.dumps(answer)


def test_half_sent_requests_are_closed(arena: Arena) -> None:
    host, port = arena.http.removeprefix("http://").split(":")
    halves = [
        b"",
        b"GET /api/info HTTP/1.1\r\nHost: x",
        b"POST /api/accounts HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
    ]
    waiting = [socket.create_connection((host, int(port)), timeout=40) for _ in halves]
    for stranger, half in zip(waiting, halves, strict=True):
        stranger.sendall(half)
    for stranger in waiting:
        with stranger:
            while stranger.recv(4096):  # until the server closes it; a timeout is an error
                pass


HIDDEN_AND_FALSE = [
    "ScrofaZero, strong",
    "ScrofaZero strong",
    "Scrof\u0430Zero",  # a Cyrillic letter
    "gr\u0435ed",
    "GREED",
    "gre ed",
    "\u1160\u1160",  # nothing is seen of it
    "a\u1160b",
    "a\u0301\u0301\u0301\u0301",  # marks upon marks
    "x" * 25,
    "__proto__",
    "<b>x</b>",
    "a\u202eb",
    "\u0261reed",  # a script g
    "\u0131f",  # a dotless i
    "\ua731crofa",  # a small capital S
    "\u13c0\u13a1\u13ac\u13ac\u13a0",  # Cherokee letters that read GREED
    "\ua4d6\ua4e3\ua4f0\ua4f0\ua4d3",  # and those of Lisu
]


@pytest.mark.parametrize("name", HIDDEN_AND_FALSE)
def test_names_that_hide_or_pretend_are_refused(arena: Arena, name: str) -> None:
    assert run(lambda: code(Client(arena.ws, name).__aenter__())) in ("malformed", "taken")
    assert post(arena, "/api/accounts", name=name)[0] in (400, 409)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_nobody_is_called_as_the_page_calls_our_players(language: str) -> None:
    texts = files("gongzhu_jax.arena") / f"static/js/texts_{language}.js"
    shown = re.findall(r'\bplayer[A-Z]\w*: "([^"]+)"', texts.read_text(encoding="utf-8"))
    assert len(shown) >= len(players.names())
    for name in [*shown, *(shown_name.replace(".", "").upper() for shown_name in shown)]:
        with pytest.raises((ArenaError, ValueError)):
            check_not_ours(check_name(name))


def test_a_name_like_a_registered_one_is_refused(arena: Arena) -> None:
    assert post(arena, "/api/accounts", name="lilly-bot")[0] == 200
    assert post(arena, "/api/accounts", name="1i11y bot")[0] == 409
    assert run(lambda: code(Client(arena.ws, "Lilly-Bot").__aenter__())) == "forbidden"


@pytest.mark.parametrize("name", ["constructor", "valueOf", "Zoë", "王小明", "O'Neil", "玩家 7"])
def test_names_that_people_have_are_taken_as_they_are(arena: Arena, name: str) -> None:
    async def enter() -> str:
        async with Client(arena.ws, name) as client:
            return client.welcome["name"]

    assert run(enter) == name


def test_an_address_has_so_many_connections_and_must_say_who_it_is(arena: Arena) -> None:
    async def hold() -> tuple[int, list[int]]:
        # All at once: the first must not be closed for its silence before the last is there.
        sockets = await asyncio.gather(*(connect(arena.ws) for _ in range(64)))
        extra = await connect(arena.ws)
        with pytest.raises(ConnectionClosed):
            await extra.recv()
        for silent in sockets:  # after ten seconds each is closed
            with pytest.raises(ConnectionClosed):
                await asyncio.wait_for(silent.recv(), 40)
        return extra.close_code or 0, [silent.close_code or 0 for silent in sockets]

    assert run(hold) == (1013, [1008] * 64)


def test_an_address_has_so_many_sockets(arena: Arena) -> None:
    """From another address of this machine: 127.0.0.1 may be a proxy with many clients."""
    host, port = arena.http.removeprefix("http://").split(":")
    most = Limits.sockets_per_address
    with contextlib.ExitStack() as held:
        sockets = [
            held.enter_context(
                socket.create_connection((host, int(port)), 40, source_address=("127.0.0.2", 0))
            )
            for _ in range(most + 50)
        ]
        assert [one.recv(1) for one in sockets[most:]] == [b""] * 50
        assert get(arena, "/healthz") == {"status": "ok"}
        sockets[0].sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200 OK" in sockets[0].recv(4096)


def test_an_address_has_so_many_tables(arena: Arena) -> None:
    async def fill() -> str:
        async with Client(arena.ws, "first") as first, Client(arena.ws, "second") as second:
            made = [await first.create(RANDOM, 0) for _ in range(40)]
            made += [await second.create(RANDOM, 0) for _ in range(24)]
            refused = await code(second.create(RANDOM, 0))
            for number, table in enumerate(made):
                client = first if number < 40 else second
                await client.ask("leave", table=table, seat=0)
            assert await code(second.create(RANDOM, 0)) == ""  # there is room again
            return refused

    assert run(fill) == "full"


def test_an_address_has_so_many_accounts(arena: Arena) -> None:
    answers = [post(arena, "/api/accounts", name=f"spam number {n}")[0] for n in range(12)]
    assert answers[-1] == 429


def test_lists_come_in_pages(arena: Arena) -> None:
    for path in (
        "/api/games?limit=1000",
        "/api/games?player=x&limit=101",
        "/api/matches?limit=101",
    ):
        with pytest.raises(urllib.error.HTTPError) as caught:
            get(arena, path)
        with caught.value as error:
            assert error.code == 400


def test_a_failed_hello_may_be_said_again(arena: Arena) -> None:
    async def enter() -> list[str]:
        async with connect(arena.ws) as client:
            said = []
            for name in ("greed", "a\u202eb", "somebody"):
                hello = {"type": "hello", "protocol": 1, "name": name}
                await client.send(json.dumps(hello))
                said.append(json.loads(await client.recv())["type"])
            return said

    assert run(enter) == ["error", "error", "welcome"]


def test_a_second_start_does_no_harm(tmp_path: Path) -> None:
    database = tmp_path / "arena.sqlite"
    with in_thread(Settings(str(database), prepare=False)) as arena:

        async def play() -> None:
            async with Client(arena.ws, "ann") as client:
                # Time enough for a move: two more programs are started meanwhile.
                table = await client.create(RANDOM, 0, seconds=600)
                await client.tell("ready", table=table, seat=0)
                await client.next_event(lambda view: view["legal"][0])
                port = arena.http.rsplit(":", 1)[1]
                for other in (port, "0"):  # the same address; another one, but the same database
                    command = [sys.executable, "-m", "gongzhu_jax.arena", "--port", other]
                    second = await asyncio.to_thread(
                        subprocess.run,
                        [*command, "--database", str(database)],
                        capture_output=True,
                        text=True,
                        timeout=120,
                    )
                    assert second.returncode != 0
                    assert "Traceback" not in str(second.stderr)
                event = {"type": ""}
                while event["type"] != "game_end":
                    event = await client.next_event(lambda view: view["legal"][0])

        run(play)
        assert get(arena, "/api/lost") == []
        assert len(get(arena, "/api/games")) == 1
