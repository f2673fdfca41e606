"""What the routes of the HTTP API have in common: parameters, bodies, errors, rows."""

import json
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from gongzhu_jax.arena.http_limits import address_of
from gongzhu_jax.arena.messages import Name, Token
from gongzhu_jax.arena.service import Service

MAX_ID = 2**62


class Refusal(BaseModel):
    """Every error, whatever its status."""

    code: str
    message: str


ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Refusal, "description": "The request is refused, and has changed nothing."},
    503: {"model": Refusal, "description": "Try again later."},
}


def get_service(request: Request) -> Service:
    return request.app.state.service


def get_address(request: Request) -> str:
    return address_of(request.scope)


Arena = Annotated[Service, Depends(get_service)]
Address = Annotated[str, Depends(get_address)]
Player = Annotated[str | None, Query(max_length=32, description="games with this player")]
MatchId = Annotated[int | None, Query(ge=1, le=MAX_ID, description="games of this match")]
After = Annotated[int, Query(ge=0, le=MAX_ID, description="with greater ids")]
Before = Annotated[int, Query(ge=1, le=MAX_ID, description="with smaller ids")]
Id = Annotated[int, Path(ge=1, le=MAX_ID)]
SeatToken = Annotated[str | None, Query(max_length=64)]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class NewAccount(Body):
    name: Name


class Owner(Body):
    """A program and the token that its owner got when the name was registered."""

    name: Name
    token: Token


class NewMatch(Owner):
    """A match of your program `name` against `opponent`: one of our players, or a program that
    takes challenges."""

    opponent: Annotated[str, Field(min_length=1, max_length=32)]
    deals: Annotated[int, Field(ge=1, le=MAX_ID)] = 64


def result(row: dict[str, Any]) -> dict[str, Any]:
    """A finished game in one flat object."""
    record = json.loads(row["record"])
    return {
        "game": row["id"],
        "finished": row["finished"],
        "table": row["table_id"],
        "match": row["match_id"],
        "deal": record["metadata"].get("deal"),
        "players": record["players"],
        "scores": record["scores"],
    }
