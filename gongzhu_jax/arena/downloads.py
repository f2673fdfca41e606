"""Games, results and ratings to download, in formats of other programs."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse, StreamingResponse

from gongzhu_jax.arena.api_types import ERRORS, After, Arena, MatchId, Player, result
from gongzhu_jax.arena.settings import Limits
from gongzhu_jax.game.cards import NUM_SEATS

router = APIRouter(prefix="/api", responses=ERRORS)

RESULT_FIELDS = [
    *("game", "finished", "table", "match", "deal"),
    *(f"player_{seat}" for seat in range(NUM_SEATS)),
    *(f"score_{seat}" for seat in range(NUM_SEATS)),
]
RATING_FIELDS = ["player", "own", "rating", "standard_error", "deals", "clock_moves"]
Count = Annotated[int, Query(ge=1, le=Limits.download, description="games in one download")]


@router.get("/ratings.csv", response_class=PlainTextResponse)
def ratings_csv(arena: Arena) -> str:
    """The ratings as a table."""
    return "".join(_csv(RATING_FIELDS, arena.ratings.table()["players"]))


@router.get("/records.jsonl")
def records_jsonl(
    arena: Arena,
    player: Player = None,
    match: MatchId = None,
    after: After = 0,
    limit: Count = Limits.download,
) -> StreamingResponse:
    """Finished games in the record format, one a line."""
    rows = arena.store.games.oldest(player=player, match=match, after=after, limit=limit)
    return _download((row["record"] + "\n" for row in rows), "application/jsonl", "records.jsonl")


@router.get("/results.csv")
def results_csv(
    arena: Arena,
    player: Player = None,
    match: MatchId = None,
    after: After = 0,
    limit: Count = Limits.download,
) -> StreamingResponse:
    """Results of finished games as a table."""
    rows = arena.store.games.oldest(player=player, match=match, after=after, limit=limit)
    lines = _csv(RESULT_FIELDS, (_flat(result(row)) for row in rows))
    return _download(lines, "text/csv", "results.csv")


@router.get("/results.json")
def results_json(
    arena: Arena,
    player: Player = None,
    match: MatchId = None,
    after: After = 0,
    limit: Count = Limits.download,
) -> StreamingResponse:
    """Results of finished games as one list."""
    rows = arena.store.games.oldest(player=player, match=match, after=after, limit=limit)
    return _download(_json_list(map(result, rows)), "application/json", "results.json")


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    by_seat = {f"player_{seat}": name for seat, name in enumerate(row["players"])}
    by_seat |= {f"score_{seat}": points for seat, points in enumerate(row["scores"])}
    return {**row, **by_seat}


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
