"""An arena on a free port, in a thread of the test process or in a process of its own."""

import contextlib
import socket
import subprocess
import threading
from collections.abc import Generator
from pathlib import Path

import uvicorn

from gongzhu_jax.arena.own_players import MakePlayer
from gongzhu_jax.arena.process import serve, wait_until
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
            wait_until(lambda: server.started or not thread.is_alive(), 60)
            yield Arena(port, Path(settings.database))
        finally:
            server.should_exit = True
            thread.join(timeout=30)
            assert not thread.is_alive()


@contextlib.contextmanager
def in_process(database: Path, *options: str) -> Generator[tuple[Arena, subprocess.Popen]]:
    """The command, as a user starts it."""
    with serve(database, *options) as served:
        yield Arena(int(served.address.split(":")[1]), database), served.process


def _bound() -> socket.socket:
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind(("127.0.0.1", 0))
    return found
