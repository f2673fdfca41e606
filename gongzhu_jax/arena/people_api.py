"""The part of the HTTP API that the page needs for people: a table by its address, the report of a
game, the deal of the day."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from gongzhu_jax.arena.api_types import ERRORS, Address, Arena, Id, SeatToken
from gongzhu_jax.arena.daily import today
from gongzhu_jax.errors import ArenaError

router = APIRouter(prefix="/api", responses=ERRORS)


@router.get("/tables/{table_id}")
async def get_table(
    table_id: Annotated[str, Path(max_length=32)],
    arena: Arena,
    invitation: Annotated[str | None, Query(max_length=64)] = None,
) -> dict[str, Any]:
    """One open table; a private one needs its invitation."""
    at = arena.lobby.find(table_id)
    at.rules.check_invitation(invitation)
    return at.summary()


@router.get("/games/{game_id}/report")
async def get_report(
    game_id: Id,
    arena: Arena,
    address: Address,
    seat: Annotated[int, Query(ge=0, le=3)],
    token: SeatToken = None,
) -> dict[str, Any]:
    """What each move of a seat gave away, and how our players do in that seat; `state` is
    "working" until it is "ready". `token` as for the game."""
    record = await asyncio.to_thread(arena.people.store.game, game_id, token)
    day = record.metadata.get("daily")
    key = None if day is None else (await arena.people.daily.deal(day)).key
    return await arena.people.reports.get(game_id, seat, record, key, address)


@router.get("/daily")
async def get_daily(
    arena: Arena,
    day: Annotated[str | None, Query(pattern=r"^\d{4}-\d\d-\d\d$")] = None,
    name: Annotated[str | None, Query(max_length=24)] = None,
) -> dict[str, Any]:
    """The table of margins of a day, by default today, and the result of one name in it."""
    try:
        return await arena.people.daily.results(day or today(), name)
    except UnicodeEncodeError:
        raise ArenaError("malformed", "name is not text") from None
