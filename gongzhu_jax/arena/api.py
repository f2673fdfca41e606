"""The HTTP API: lists, results, downloads, accounts and matches. /docs shows it."""

import asyncio
import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import PlainTextResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from gongzhu_jax import players
from gongzhu_jax.arena.hall import position
from gongzhu_jax.arena.leaderboard import leaderboard
from gongzhu_jax.arena.messages import PROTOCOL, Name, Token
from gongzhu_jax.arena.service import Service
from gongzhu_jax.arena.table_game import TableGame
from gongzhu_jax.errors import ArenaError
from gongzhu_jax.game.env import RULES_VERSION
from gongzhu_jax.records import to_line
from gongzhu_jax.version import __version__

router = APIRouter(prefix="/api")

RESULT_FIELDS = [
    *("game", "finished", "table", "match", "deal", "rotation"),
    *(f"player_{seat}" for seat in range(4)),
    *(f"score_{seat}" for seat in range(4)),
]
_MAX_ID = 2**62


def get_service(request: Request) -> Service:
    return request.app.state.service


def get_limited(request: Request) -> Service:
    """For calls that cost work."""
    service = get_service(request)
    service.check_rate(request.client.host if request.client else "")
    return service


Arena = Annotated[Service, Depends(get_service)]
LimitedArena = Annotated[Service, Depends(get_limited)]
Player = Annotated[str | None, Query(max_length=32, description="games with this player")]
Match = Annotated[int | None, Query(ge=1, le=_MAX_ID, description="games of this match")]
After = Annotated[int, Query(ge=0, le=_MAX_ID, description="games with greater ids")]
SeatToken = Annotated[str | None, Query(max_length=64)]
Id = Annotated[int, Path(ge=1, le=_MAX_ID)]


class NewAccount(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: Name


class NewMatch(BaseModel):
    """`name` and `token` are of any account; it need not play itself."""

    model_config = ConfigDict(extra="forbid", strict=True)
    name: Name
    token: Token
    first: Name
    second: Name
    deals: Annotated[int, Field(ge=1)] = 64
    rotations: int = 2
    seconds: float | None = None


@router.get("/info")
def info(arena: Arena) -> dict[str, Any]:
    """What this server is."""
    return {
        "version": __version__,
        "protocol": PROTOCOL,
        "rules": RULES_VERSION,
        "players": arena.hall.available,
        "games": arena.store.count_games(),
        "tables": len(arena.hall.tables),
        "connections": len(arena.hall.connections),
    }


@router.get("/tables")
async def tables(arena: Arena) -> list[dict[str, Any]]:
    """The tables that are open now."""
    return [at.summary() for at in arena.hall.tables.values() if at.rules.invitation is None]


@router.post("/accounts")
def register(new: NewAccount, arena: LimitedArena) -> dict[str, str]:
    """Reserves a name for a program. The token is shown once; whoever has it owns the name."""
    if new.name in players.names():
        raise ArenaError("taken", f"{new.name!r} is the name of one of our players")
    return {"name": new.name, "token": arena.store.register(new.name)}


@router.get("/accounts")
async def accounts(arena: LimitedArena) -> list[dict[str, Any]]:
    """Programs that take part in matches now."""
    return [
        {"name": name, "games": connection.games_offered}
        for name, connection in arena.hall.programs.items()
    ]


@router.post("/matches")
async def start_match(new: NewMatch, arena: LimitedArena) -> dict[str, int]:
    """Starts a duplicate match between programs that are here, or our players."""
    if not await asyncio.to_thread(arena.store.owns, new.name, new.token):
        raise ArenaError("forbidden", f"that token does not own the name {new.name!r}")
    settings = arena.settings
    seconds = settings.move_seconds if new.seconds is None else new.seconds
    if not settings.least_seconds <= seconds <= settings.most_seconds:
        raise ArenaError(
            "malformed",
            f"seconds must be from {settings.least_seconds:g} to {settings.most_seconds:g}",
        )
    started = await arena.matches.start(new.first, new.second, new.deals, new.rotations, seconds)
    return {"match": started}


@router.get("/matches")
def list_matches(
    arena: Arena, limit: Annotated[int, Query(ge=1, le=1000)] = 100
) -> list[dict[str, Any]]:
    """Matches, the newest first."""
    return arena.store.matches(limit)


@router.get("/matches/{match_id}")
def get_match(match_id: Id, arena: Arena) -> dict[str, Any]:
    """A match with the margin of every deal."""
    return arena.store.match(match_id)


@router.get("/leaderboard")
def get_leaderboard(arena: LimitedArena) -> list[dict[str, Any]]:
    """All players of finished matches with mean margin, standard error and 95 % interval."""
    return leaderboard(arena.store.finished_margins())


@router.get("/leaderboard.csv", response_class=PlainTextResponse)
def leaderboard_csv(arena: LimitedArena) -> str:
    """The same as a table."""
    fields = ["player", "mean", "standard_error", "deals", "win_rate"]
    return "".join(_csv(fields, leaderboard(arena.store.finished_margins())))


@router.get("/games")
def games(
    arena: Arena,
    player: Player = None,
    match: Match = None,
    after: After = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> list[dict[str, Any]]:
    """Results of finished games, by id."""
    found = arena.store.games(player=player, match=match, after=after, limit=limit)
    return [_result(row) for row in found]


@router.get("/games/{game_id}")
def game(game_id: Id, arena: Arena, token: SeatToken = None) -> dict[str, Any]:
    """The record of a finished game. `token` is that of a seat in it, needed while others still
    play today's deal."""
    return json.loads(to_line(arena.people.store.game(game_id, token)))


@router.get("/games/{game_id}/opinion/{stage}")
async def game_opinion(
    game_id: Id,
    stage: Annotated[int, Path(ge=0, le=51)],
    arena: LimitedArena,
    token: SeatToken = None,
) -> dict[str, Any]:
    """What the analyst thinks of the move `stage` of a finished game, knowing what its player
    knew. `token` as for the game."""
    record = await asyncio.to_thread(arena.people.store.game, game_id, token)
    before = TableGame(record.deal, record.leader)
    for card in record.plays[:stage]:
        before.play(card)
    return await arena.own.analyse(position(before))


@router.get("/records.jsonl")
def download_records(
    arena: LimitedArena, player: Player = None, match: Match = None, after: After = 0
) -> StreamingResponse:
    """Finished games in the record format, one a line."""
    found = arena.store.games(player=player, match=match, after=after)
    return _download((row["record"] + "\n" for row in found), "application/jsonl", "records.jsonl")


@router.get("/results.csv")
def download_csv(
    arena: LimitedArena, player: Player = None, match: Match = None, after: After = 0
) -> StreamingResponse:
    """Results of finished games as a table."""
    found = arena.store.games(player=player, match=match, after=after)
    lines = _csv(RESULT_FIELDS, (_flat(_result(row)) for row in found))
    return _download(lines, "text/csv", "results.csv")


@router.get("/results.json")
def download_json(
    arena: LimitedArena, player: Player = None, match: Match = None, after: After = 0
) -> StreamingResponse:
    """Results of finished games as one list."""
    found = (_result(row) for row in arena.store.games(player=player, match=match, after=after))
    return _download(_json_list(found), "application/json", "results.json")


@router.get("/lost")
def lost(arena: Arena) -> list[dict[str, Any]]:
    """Games that were not finished, the newest first."""
    return arena.store.lost_games()


def _result(row: dict[str, Any]) -> dict[str, Any]:
    record = json.loads(row["record"])
    return {
        "game": row["id"],
        "finished": row["finished"],
        "table": row["table_id"],
        "match": row["match_id"],
        "deal": record["metadata"].get("deal"),
        "rotation": record["metadata"].get("rotation"),
        "players": record["players"],
        "scores": record["scores"],
    }


def _flat(result: dict[str, Any]) -> dict[str, Any]:
    by_seat = {f"player_{seat}": name for seat, name in enumerate(result["players"])}
    by_seat |= {f"score_{seat}": points for seat, points in enumerate(result["scores"])}
    return {**result, **by_seat}


def _csv(fields: list[str], rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, fields, extrasaction="ignore")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _safe(value) for name, value in row.items()})
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue()


def _safe(value: Any) -> Any:
    """Names come from anybody: a spreadsheet must not take one for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@" else value


def _json_list(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    before = "["
    for row in rows:
        yield before + json.dumps(row)
        before = ",\n"
    yield "[]" if before == "[" else "]"


def _download(lines: Iterator[str], kind: str, name: str) -> StreamingResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(lines, media_type=kind, headers=headers)
