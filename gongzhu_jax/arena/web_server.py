"""The web server that an arena runs on: uvicorn with its limits, on a socket that is bound before
anything else is touched."""

import asyncio
import socket
from collections import Counter
from collections.abc import Callable
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from gongzhu_jax.arena.http_limits import address_of
from gongzhu_jax.arena.settings import Limits
from gongzhu_jax.errors import ConfigError

_PROXIES = ("127.0.0.1", "::1")
"""Proxies have the sockets of many clients, whose addresses come in a header of the request."""


def bind(host: str, port: int) -> socket.socket:
    """A bound socket. `ConfigError` if the address is in use, before any harm is done."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except (OSError, OverflowError) as error:
        raise ConfigError(f"cannot listen on {host}:{port}: {error}") from error
    return bound


class Server(uvicorn.Server):
    """Calls `on_exit` before it closes its connections."""

    def __init__(self, config: uvicorn.Config, on_exit: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_exit = on_exit

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_exit()
        await asyncio.sleep(0.1)  # for what is said last to be sent
        await super().shutdown(sockets)


def make_server(
    app: FastAPI, limits: Limits, root_path: str = "", *, on_exit: Callable[[], None]
) -> Server:
    """`run(sockets=[...])` serves until a signal or `should_exit`."""
    return Server(
        uvicorn.Config(
            app,
            http=type("Protocol", (ImpatientProtocol,), {"limits": limits, "held": Counter()}),
            ws="websockets-sansio",
            # Longer messages than ours are answered with an error; much longer ones end the
            # connection.
            ws_max_size=16 * limits.message_bytes,
            ws_per_message_deflate=False,
            root_path=root_path,
            log_config=None,
            log_level="warning",
            timeout_graceful_shutdown=3,
        ),
        on_exit,
    )


class ImpatientProtocol(H11Protocol):
    """HTTP that closes connections which do not send the head of a request in time, and those of
    an address that has too many: a process has only so many files."""

    limits: Limits
    held: Counter[str]  # sockets of each address
    _address: str | None = None
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._start_timer()
        peer = transport.get_extra_info("peername")
        if peer is None or peer[0] in _PROXIES:
            return
        self._address = address_of({"client": peer})
        self.held[self._address] += 1
        if self.held[self._address] > self.limits.sockets_per_address:
            transport.close()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_timer()
        elif self._timer is None:
            self._start_timer()  # the next request on the same connection has begun

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._let_go()  # these have a limit of their own
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._let_go()
        super().connection_lost(exc)

    def _let_go(self) -> None:
        if self._address is not None:
            self.held[self._address] -= 1
            if not self.held[self._address]:
                del self.held[self._address]
            self._address = None

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(self.limits.request_seconds, self.transport.close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
