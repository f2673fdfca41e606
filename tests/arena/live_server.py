"""An arena on a free port, in a thread of the test process or in a process of its own."""

import contextlib
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from pathlib import Path

import uvicorn

from gongzhu_jax.arena.own_players import MakePlayer
from gongzhu_jax.arena.server import make_app
from gongzhu_jax.arena.settings import Settings


class Arena:
    def __init__(self, port: int, database: Path) -> None:
        self.http = f"http://127.0.0.1:{port}"
        self.ws = f"ws://127.0.0.1:{port}/ws"
        self.database = database


@contextlib.contextmanager
def in_thread(settings: Settings, make_player: MakePlayer | None = None) -> Generator[Arena]:
    with _bound() as bound:
        port = bound.getsockname()[1]
        config = uvicorn.Config(
            make_app(settings, make_player),
            log_level="warning",
            ws="websockets-sansio",
            ws_max_size=16 * settings.limits.message_bytes,
            timeout_graceful_shutdown=5,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            _wait(lambda: server.started or not thread.is_alive())
            yield Arena(port, Path(settings.database))
        finally:
            server.should_exit = True
            thread.join(timeout=30)
            assert not thread.is_alive()


@contextlib.contextmanager
def in_process(database: Path, *options: str) -> Generator[tuple[Arena, subprocess.Popen]]:
    """The command, as a user starts it."""
    with _bound() as bound:
        port = bound.getsockname()[1]
    command = [sys.executable, "-m", "gongzhu_jax.arena", "--port", str(port)]
    process = subprocess.Popen(
        [*command, "--database", str(database), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        arena = Arena(port, database)
        _wait(lambda: process.poll() is not None or _answers(arena), 120)
        yield arena, process
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _bound() -> socket.socket:
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind(("127.0.0.1", 0))
    return found


def _answers(arena: Arena) -> bool:
    try:
        with urllib.request.urlopen(f"{arena.http}/api/info", timeout=5) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


def _wait(condition, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the server does not start"
        time.sleep(0.02)
