"""The arena on the network: the WebSocket of the protocol, the HTTP API, and the page."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI, Request, Response, WebSocket, WebSocketDisconnect
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles

from gongzhu_jax.arena import api, people_api
from gongzhu_jax.arena.connection import Connection
from gongzhu_jax.arena.own_players import MakePlayer
from gongzhu_jax.arena.service import Service, make_service
from gongzhu_jax.arena.session import Session
from gongzhu_jax.arena.settings import Settings
from gongzhu_jax.errors import ArenaError
from gongzhu_jax.version import __version__

STATUS = {"unknown": 404, "forbidden": 403, "taken": 409, "busy": 503, "full": 503, "rate": 429}
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
    """The application. Nothing runs before the server starts it."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        service = make_service(settings, make_player)
        app.state.service = service
        await service.open()
        yield
        await service.close()

    app = FastAPI(title="Gongzhu arena", version=__version__, lifespan=lifespan)
    app.include_router(api.router)
    app.include_router(people_api.router)
    app.add_api_websocket_route("/ws", serve_client)
    app.add_exception_handler(ArenaError, refuse)
    app.middleware("http")(add_headers)
    app.mount("/static", StaticFiles(directory=_STATIC), name="static")
    app.add_api_route("/", page, include_in_schema=False)
    return app


async def page() -> FileResponse:
    return FileResponse(_STATIC / "index.html")


async def refuse(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ArenaError)
    return JSONResponse(
        {"code": error.code, "message": str(error)}, status_code=STATUS.get(error.code, 400)
    )


async def add_headers(
    request: Request, call_next: Callable[[Request], Awaitable[Response]]
) -> Response:
    response = await call_next(request)
    if not request.url.path.startswith("/docs"):  # its page loads parts from elsewhere
        response.headers.update(_HEADERS)
    return response


async def serve_client(socket: WebSocket) -> None:
    """One client from its first to its last message."""
    service: Service = socket.app.state.service
    await socket.accept()
    try:
        connection = service.hall.connect()
    except ArenaError as error:
        await socket.close(TRY_LATER, str(error))
        return
    sender = asyncio.create_task(_send(socket, connection))
    try:
        await _receive(socket, Session(service.hall, connection, service.people), sender)
    except WebSocketDisconnect:
        pass
    finally:
        service.hall.disconnect(connection)
        # What was queued goes out if the client still listens.
        await asyncio.wait([sender], timeout=5)
        sender.cancel()


async def _receive(socket: WebSocket, session: Session, sender: asyncio.Task) -> None:
    while not sender.done():
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        text = message.get("text")
        await session.receive(message.get("bytes") or b"" if text is None else text)


async def _send(socket: WebSocket, connection: Connection) -> None:
    try:
        while (text := await connection.outgoing.get()) is not None:
            await socket.send_text(text)
        await socket.close(POLICY_VIOLATION)
    except (WebSocketDisconnect, RuntimeError):
        # The client is gone: the receiving side notices too.
        connection.close()
