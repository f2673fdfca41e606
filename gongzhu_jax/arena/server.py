"""The arena on the network: the WebSocket of the protocol, the HTTP API, and the page."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI, Request, Response, WebSocket, WebSocketDisconnect
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from gongzhu_jax.arena import api, downloads, operations, people_api
from gongzhu_jax.arena.connection import Connection
from gongzhu_jax.arena.http_limits import HttpLimits, address_of
from gongzhu_jax.arena.messages import first_error
from gongzhu_jax.arena.own_players import MakePlayer
from gongzhu_jax.arena.service import Service, make_service
from gongzhu_jax.arena.session import Session
from gongzhu_jax.arena.settings import Settings
from gongzhu_jax.errors import ArenaError
from gongzhu_jax.version import __version__

STATUS = {
    "unknown": 404,
    "forbidden": 403,
    "taken": 409,
    "played": 409,
    "rate": 429,
    "busy": 503,
    "full": 503,
    "closing": 503,
}
"""HTTP status of the codes of `ArenaError`; others are 400."""

POLICY_VIOLATION, TRY_LATER = 1008, 1013  # of WebSocket

_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; connect-src 'self' ws: wss:; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
_STATIC = Path(str(files("gongzhu_jax.arena"))) / "static"


def make_app(settings: Settings, make_player: MakePlayer | None = None) -> FastAPI:
    """The application. The database is locked and read here; nothing runs before the server
    starts it."""
    service = make_service(settings, make_player)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        await service.open()
        yield
        await service.close()

    app = FastAPI(title="Gongzhu arena", version=__version__, lifespan=lifespan)
    app.state.service = service
    for routes in (api, people_api, downloads, operations):
        app.include_router(routes.router)
    app.add_api_websocket_route("/ws", serve_client)
    app.add_exception_handler(ArenaError, refuse)
    app.add_exception_handler(RequestValidationError, refuse_malformed)
    app.add_exception_handler(HTTPException, refuse_http)
    app.middleware("http")(add_headers)
    app.add_middleware(HttpLimits, limits=settings.limits, metrics=service.lobby.metrics)
    app.mount("/static", StaticFiles(directory=_STATIC), name="static")
    app.add_api_route("/", page, include_in_schema=False)
    return app


async def page() -> FileResponse:
    return FileResponse(_STATIC / "index.html")


async def refuse(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ArenaError)
    return _refusal(STATUS.get(error.code, 400), error.code, str(error))


async def refuse_malformed(request: Request, error: Exception) -> JSONResponse:
    """Says what is wrong, but never repeats what was sent."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "extra_forbidden":  # a field whose name is the caller's own
        first = {**first, "loc": first["loc"][:-1]}
    return _refusal(400, "malformed", first_error([first]))


async def refuse_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = {404: "unknown", 405: "method"}.get(error.status_code, "malformed")
    return _refusal(error.status_code, code, str(error.detail), error.headers)


def _refusal(status: int, code: str, message: str, headers=None) -> JSONResponse:
    return JSONResponse({"code": code, "message": message}, status, headers)


async def add_headers(
    request: Request, call_next: Callable[[Request], Awaitable[Response]]
) -> Response:
    response = await call_next(request)
    if not request.url.path.endswith("/docs"):  # its page loads parts from elsewhere
        response.headers.update(_HEADERS)
    return response


async def serve_client(socket: WebSocket) -> None:
    """One client from its first to its last message."""
    service: Service = socket.app.state.service
    await socket.accept()
    try:
        connection = service.lobby.clients.connect(address_of(socket.scope))
    except ArenaError as error:
        await socket.close(TRY_LATER, str(error))
        return
    sender = asyncio.create_task(_send(socket, connection))
    limit = service.settings.limits.hello_seconds
    timer = asyncio.get_running_loop().call_later(limit, _check_hello, connection)
    try:
        session = Session(service.lobby, connection, service.analyses, service.people)
        await _receive(socket, session, sender)
    except WebSocketDisconnect:
        pass
    finally:
        timer.cancel()
        service.lobby.disconnect(connection)
        # What was queued goes out if the client still listens.
        await asyncio.wait([sender], timeout=1)
        sender.cancel()


def _check_hello(connection: Connection) -> None:
    if connection.name is None:
        connection.close()


async def _receive(socket: WebSocket, session: Session, sender: asyncio.Task) -> None:
    while not sender.done():
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        text = message.get("text")
        wait = await session.receive(message.get("bytes") or b"" if text is None else text)
        if wait > 0:
            # Whoever talks too fast is read more slowly; nothing that it says is lost.
            await asyncio.wait([sender], timeout=wait)


async def _send(socket: WebSocket, connection: Connection) -> None:
    try:
        while (text := await connection.outgoing.get()) is not None:
            await socket.send_text(text)
        await socket.close(POLICY_VIOLATION)
    except (WebSocketDisconnect, RuntimeError):
        # The client is gone: the receiving side notices too.
        connection.close()
