"""Every route of the HTTP API, from its own description, with whatever fits and does not fit it."""

import asyncio
import contextlib
import socket
import threading
import time
import unittest
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import Case
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation

from gongzhu_jax.arena.settings import Settings
from tests.arena.live_server import Arena, in_process, in_thread

MEGABYTE = 2**20


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Generator[Arena]:
    with in_process(tmp_path_factory.mktemp("fuzz") / "arena.sqlite") as (running, _):
        yield running


def operations(arena: Arena) -> list[APIOperation]:
    schema = schemathesis.openapi.from_url(f"{arena.http}/openapi.json")
    results = list(schema.get_all_operations())
    usable = [result.ok() for result in results if isinstance(result, Ok)]
    assert len(usable) == len(results)
    assert len(usable) >= 15
    return usable


def fuzz(arena: Arena, examples: int) -> dict[int, int]:
    """How often each status was answered."""
    seen: dict[int, int] = {}
    for operation in operations(arena):
        for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):
            # A route without parameters has no wrong ones.
            with contextlib.suppress(Unsatisfiable, unittest.SkipTest):
                cases: st.SearchStrategy[Case] = operation.as_strategy(generation_mode=mode)

                @settings(
                    max_examples=examples,
                    deadline=None,
                    database=None,
                    derandomize=True,
                    suppress_health_check=list(HealthCheck),
                )
                @given(case=cases)
                def try_one(case: Case) -> None:
                    answer = case.call(base_url=arena.http)
                    while answer.status_code == 429:  # as it should be: more slowly, then
                        time.sleep(0.3)
                        answer = case.call(base_url=arena.http)
                    seen[answer.status_code] = seen.get(answer.status_code, 0) + 1
                    assert answer.status_code < 500 or answer.json()["code"] in ("full", "busy")
                    if answer.status_code >= 400:
                        assert set(answer.json()) == {"code", "message"}
                        assert len(answer.content) < 1000

                try_one()
    return seen


def test_every_route_answers_whatever_is_asked(arena: Arena) -> None:
    seen = fuzz(arena, 5)
    assert seen[200] > 20
    assert seen[400] > 20


@pytest.mark.slow
def test_every_route_answers_whatever_is_asked_at_length(arena: Arena) -> None:
    seen = fuzz(arena, 20)
    assert seen[200] > 50
    assert seen[400] > 100


BODIES = {
    "numbers": (b'{"name": [', b"1,", b"1]}"),
    "text": (b'{"name": "', b"xy", b'"}'),
    "nested": (b"", b"[[", b""),
    "objects": (b"", b'{"', b""),
    "zeros": (b"", b"\0\0", b""),
}


@pytest.mark.parametrize(
    "size", [MEGABYTE, *(pytest.param(n * MEGABYTE, marks=pytest.mark.slow) for n in (20, 100))]
)
def test_long_bodies_block_nobody(tmp_path: Path, size: int) -> None:
    """To every route, with and without a length, while the work of the event loop is measured."""
    with in_thread(Settings(str(tmp_path / "arena.sqlite"), prepare=False)) as arena:
        routes = [(operation.method.upper(), operation.path) for operation in operations(arena)]
        assert arena.loop is not None
        probe = asyncio.run_coroutine_threadsafe(longest_block(stop := asyncio.Event()), arena.loop)
        for method, path in routes:
            kinds = BODIES if method == "POST" else {"numbers": BODIES["numbers"]}
            for parts in kinds.values():
                for chunked in (False, True):
                    status = send(arena, method, path, parts, size, chunked=chunked)
                    assert status in (0, 413, 408, 429)  # 0: closed while it was sent
        arena.loop.call_soon_threadsafe(stop.set)
        block = probe.result(60)
    print(f"{size} bytes: the event loop was busy for {1000 * block:.1f} ms at a time at most")
    assert block < 0.1


async def longest_block(stop: asyncio.Event) -> float:
    """Seconds of the processor that the loop has spent between two looks at it, at most. Time of
    the clock would count what other programs on the machine do."""
    most, before = 0.0, time.thread_time()
    while not stop.is_set():
        await asyncio.sleep(0.001)
        now = time.thread_time()
        most, before = max(most, now - before), now
    return most


def send(
    arena: Arena, method: str, path: str, parts: tuple[bytes, ...], size: int, *, chunked: bool
) -> int:
    """The status of the answer to a long body, 0 if the connection was closed without one."""
    host, port = arena.http.removeprefix("http://").split(":")
    path = path.replace("{match_id}", "1").replace("{game_id}", "1").replace("{stage}", "1")
    head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    head += "Transfer-Encoding: chunked\r\n\r\n" if chunked else f"Content-Length: {size}\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=60) as sender:
        writer = threading.Thread(target=_write, args=(sender, head, parts, size, chunked))
        writer.start()
        answer = b""
        with contextlib.suppress(OSError):
            while more := sender.recv(4096):
                answer += more
        with contextlib.suppress(OSError):
            sender.shutdown(socket.SHUT_RDWR)
        writer.join()
    return int(answer.split(b" ")[1]) if answer else 0


def _write(
    sender: socket.socket, head: str, parts: tuple[bytes, ...], size: int, chunked: bool
) -> None:
    with contextlib.suppress(OSError):
        sender.sendall(head.encode())
        for piece in _pieces(parts, size):
            sender.sendall(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
        if chunked:
            sender.sendall(b"0\r\n\r\n")


def _pieces(parts: tuple[bytes, ...], size: int) -> Iterator[bytes]:
    first, middle, last = parts
    block, left = middle * (2**15), size - len(first) - len(last)
    if first:
        yield first
    while left > 0:
        yield block[:left]
        left -= len(block)
    if last:
        yield last
