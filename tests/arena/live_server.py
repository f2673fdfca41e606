"""An arena on a free port, in a thread of the test process or in a process of its own, and how
tests talk to it."""

import asyncio
import contextlib
import json
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

from gongzhu_jax.arena.own_players import MakePlayer
from gongzhu_jax.arena.process import serve, wait_until
from gongzhu_jax.arena.server import make_app
from gongzhu_jax.arena.settings import Settings
from gongzhu_jax.arena.web_server import bind, make_server


class Arena:
    def __init__(
        self,
        port: int,
        database: Path,
        loop: asyncio.AbstractEventLoop | None = None,
        drain: Callable[[], None] | None = None,
    ) -> None:
        self.http = f"http://127.0.0.1:{port}"
        self.ws = f"ws://127.0.0.1:{port}/ws"
        self.database = database
        self.loop = loop  # that serves, if it is in this process
        self.drain = drain  # what the server does first when it is stopped, the same


@contextlib.contextmanager
def in_thread(
    settings: Settings,
    make_player: MakePlayer | None = None,
    proxy: Callable[[Any], Any] = lambda app: app,
) -> Generator[Arena]:
    """`proxy` makes the ASGI application that is served out of the arena's own."""
    with bind("127.0.0.1", 0) as bound:
        app = make_app(settings, make_player)
        drain = app.state.service.lobby.drain
        server = make_server(proxy(app), settings.limits, on_exit=drain)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            wait_until(lambda: server.started or not thread.is_alive(), 60)
            loop = server.servers[0].get_loop()
            yield Arena(bound.getsockname()[1], Path(settings.database), loop, drain)
        finally:
            server.should_exit = True
            thread.join(timeout=30)
            assert not thread.is_alive()


@contextlib.contextmanager
def in_process(
    database: Path, *options: str, **more: Any
) -> Generator[tuple[Arena, subprocess.Popen]]:
    """The command, as a user starts it, with the compiled programs of all tests."""
    # Our players are compiled when they are wanted: the tests want few of them.
    with serve(database, "--no-prepare", *options, **more) as served:
        yield Arena(int(served.address.split(":")[1]), database), served.process


def run(work: Callable[[], Any], seconds: float = 300) -> Any:
    async def limited() -> Any:
        return await asyncio.wait_for(work(), seconds)

    return asyncio.run(limited())


def get(arena: Arena, path: str) -> Any:
    with urllib.request.urlopen(arena.http + path, timeout=30) as answer:
        body = answer.read().decode()
        return json.loads(body) if answer.headers["content-type"] == "application/json" else body


def post(arena: Arena, path: str, **body: Any) -> tuple[int, Any]:
    return post_raw(arena, path, json.dumps(body).encode())


def post_raw(arena: Arena, path: str, body: bytes) -> tuple[int, Any]:
    """Status and answer."""
    kind = {"content-type": "application/json"}
    request = urllib.request.Request(arena.http + path, body, kind)
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)
