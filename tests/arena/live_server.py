"""An arena on a free port, in a thread of the test process or in a process of its own."""

import contextlib
import subprocess
import threading
from collections.abc import Generator
from pathlib import Path

from gongzhu_jax.arena.own_players import MakePlayer
from gongzhu_jax.arena.process import serve, wait_until
from gongzhu_jax.arena.server import make_app
from gongzhu_jax.arena.settings import Settings
from gongzhu_jax.arena.web_server import bind, make_server


class Arena:
    def __init__(self, port: int, database: Path) -> None:
        self.http = f"http://127.0.0.1:{port}"
        self.ws = f"ws://127.0.0.1:{port}/ws"
        self.database = database


@contextlib.contextmanager
def in_thread(settings: Settings, make_player: MakePlayer | None = None) -> Generator[Arena]:
    with bind("127.0.0.1", 0) as bound:
        app = make_app(settings, make_player)
        server = make_server(app, settings.limits, on_exit=app.state.service.lobby.drain)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            wait_until(lambda: server.started or not thread.is_alive(), 60)
            yield Arena(bound.getsockname()[1], Path(settings.database))
        finally:
            server.should_exit = True
            thread.join(timeout=30)
            assert not thread.is_alive()


@contextlib.contextmanager
def in_process(database: Path, *options: str) -> Generator[tuple[Arena, subprocess.Popen]]:
    """The command, as a user starts it."""
    with serve(database, *options) as served:
        yield Arena(int(served.address.split(":")[1]), database), served.process
