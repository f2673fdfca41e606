"""Tells whoever runs the server whether it is well and what it is doing."""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST

router = APIRouter(include_in_schema=False)


@router.get("/healthz")
async def health(request: Request) -> JSONResponse:
    """200 if the server takes tables, 503 if it is about to stop."""
    closing = request.app.state.service.lobby.closing
    status: dict[str, Any] = {"status": "closing" if closing else "ok"}
    return JSONResponse(status, 503 if closing else 200)


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """The metrics in the text format of Prometheus."""
    return Response(request.app.state.service.metrics(), media_type=CONTENT_TYPE_LATEST)
