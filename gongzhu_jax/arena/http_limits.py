"""What the HTTP side of an arena does not put up with: long or slow bodies, and callers that ask
too often."""

import asyncio
import contextlib
import ipaddress
import time

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gongzhu_jax.arena.metrics import Metrics
from gongzhu_jax.arena.rates import Rates
from gongzhu_jax.arena.settings import Limits

_DISCARD_SECONDS = 2.0
_UNLIMITED = ("/static/", "/healthz", "/metrics")


class TooLongError(Exception):
    """The body of a request is longer than it may be."""


class HttpLimits:
    """Middleware around the whole application. A body is read, and counted, before anything else
    looks at it."""

    def __init__(self, app: ASGIApp, limits: Limits, metrics: Metrics) -> None:
        self._app = app
        self._limits = limits
        self._metrics = metrics
        self._requests = Rates(limits.requests_per_second, limits.request_burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = self._counted(send)
        if self._too_often(scope):
            await _refuse(429, "rate", "too many requests; try again later")(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._limits.request_seconds):
                body = await self._body(scope, receive)
        except TooLongError:
            await _discard(scope, receive)
            refusal = f"a body has at most {self._limits.body_bytes} bytes"
            await _refuse(413, "size", refusal)(scope, receive, send)
            return
        except TimeoutError:
            await _refuse(408, "late", "the request did not come in time")(scope, receive, send)
            return
        if body is None:
            return  # the client has gone
        sent = False

        async def replay() -> Message:
            nonlocal sent
            if sent:
                return await receive()  # waits until the client goes
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, replay, send)

    def _too_often(self, scope: Scope) -> bool:
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        if path.startswith(_UNLIMITED):
            return False
        return not self._requests.take(address_of(scope), time.monotonic())

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        most = self._limits.body_bytes
        for name, value in scope["headers"]:
            if name == b"content-length" and value.isdigit() and int(value) > most:
                raise TooLongError
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > most:
                raise TooLongError
        return body

    def _counted(self, send: Send) -> Send:
        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._metrics.requests.labels(message["status"]).inc()
            await send(message)

        return counted


async def _discard(scope: Scope, receive: Receive) -> None:
    """Reads the rest of a body for a moment, unparsed: a client that is still sending when its
    connection is closed would not see the answer."""
    if (b"expect", b"100-continue") in scope["headers"]:
        return
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DISCARD_SECONDS):
            while (await receive()).get("more_body", False):
                pass


def address_of(scope: Scope) -> str:
    """The address of the caller. An IPv6 host has a network of them, so the network counts."""
    text: str = scope["client"][0] if scope.get("client") else ""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text  # whatever a proxy says
    if isinstance(address, ipaddress.IPv4Address):
        return text
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), 64), strict=False))


def _refuse(status: int, code: str, message: str) -> JSONResponse:
    # The rest of the request is not read, so the connection cannot be used again.
    headers = {"Connection": "close"} if status in (408, 413) else {"Retry-After": "1"}
    return JSONResponse({"code": code, "message": message}, status, headers)
