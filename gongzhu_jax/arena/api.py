"""The HTTP API: lists, results, accounts and matches. /docs shows it."""

import asyncio
import json
import time
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from gongzhu_jax import records
from gongzhu_jax.arena.api_types import (
    ERRORS,
    MAX_ID,
    Address,
    After,
    Arena,
    Before,
    Id,
    MatchId,
    NewAccount,
    NewMatch,
    Owner,
    Player,
    SeatToken,
    result,
)
from gongzhu_jax.arena.messages import PROTOCOL
from gongzhu_jax.arena.names import check_not_ours
from gongzhu_jax.arena.position import position
from gongzhu_jax.arena.settings import Limits
from gongzhu_jax.arena.table_game import TableGame
from gongzhu_jax.errors import ArenaError
from gongzhu_jax.game.env import RULES_VERSION
from gongzhu_jax.version import __version__

router = APIRouter(prefix="/api", responses=ERRORS)
_TURN_SECONDS = 0.05  # between two looks whether it is one's turn
PageSize = Annotated[int, Query(ge=1, le=Limits.page)]


@router.get("/info")
def info(arena: Arena) -> dict[str, Any]:
    """What this server is."""
    own = arena.own
    return {
        "version": __version__,
        "protocol": PROTOCOL,
        "rules": RULES_VERSION,
        "players": own.available,
        "preparing": own.preparing,
        "batching": own.batching,
        "games": arena.store.games.count(),
        "tables": len(arena.lobby.tables),
        "connections": len(arena.lobby.clients.connections),
    }


@router.get("/tables")
async def tables(arena: Arena) -> list[dict[str, Any]]:
    """The tables that are open now."""
    return [at.summary() for at in arena.lobby.tables.values() if at.rules.invitation is None]


@router.post("/accounts")
def register(new: NewAccount, arena: Arena, address: Address) -> dict[str, str]:
    """Reserves a name for a program. The token is shown once; whoever has it owns the name."""
    check_not_ours(new.name)
    if not arena.accounts.take(address, time.monotonic()):
        raise ArenaError("rate", "too many names from your address; try again later")
    return {"name": new.name, "token": arena.store.accounts.register(new.name)}


@router.get("/accounts")
async def programs(arena: Arena) -> list[dict[str, Any]]:
    """Programs that take part in matches now."""
    return [
        {"name": name, "games": connection.games_offered, "challenges": connection.challenges}
        for name, connection in arena.lobby.clients.programs.items()
    ]


@router.post("/matches")
async def start_match(new: NewMatch, arena: Arena) -> dict[str, int]:
    """Queues a duplicate match of your program against one of our players or a program that takes
    challenges."""
    await _check_owner(arena, new)
    return {"match": await arena.matches.ask(new.name, new.opponent, new.deals)}


@router.post("/matches/{match_id}/cancel")
async def cancel_match(match_id: Id, owner: Owner, arena: Arena) -> dict[str, int]:
    """Ends a match of your program. The deals that have begun count."""
    await _check_owner(arena, owner)
    await arena.matches.cancel(match_id, owner.name)
    return {"match": match_id}


@router.get("/matches")
def list_matches(
    arena: Arena, before: Before = MAX_ID, limit: PageSize = Limits.page
) -> list[dict[str, Any]]:
    """Matches, the newest first."""
    return arena.store.matches.newest(limit, before)


@router.get("/matches/{match_id}")
def get_match(match_id: Id, arena: Arena) -> dict[str, Any]:
    """A match: how far it is and, when it is over, its seed and the margin of every deal."""
    return arena.store.matches.get(match_id)


@router.get("/ratings")
def ratings(arena: Arena) -> dict[str, Any]:
    """How strong every player is, in points a deal over the anchor, from all matches."""
    return arena.ratings.table()


@router.get("/games")
def games(
    arena: Arena,
    player: Player = None,
    match: MatchId = None,
    after: After = 0,
    before: Before = MAX_ID,
    newest: bool = False,
    limit: PageSize = Limits.page,
) -> list[dict[str, Any]]:
    """Results of finished games: by id from `after` on or, with `newest`, back from `before`."""
    rows = (
        arena.store.games.newest(player=player, match=match, before=before, limit=limit)
        if newest
        else arena.store.games.oldest(player=player, match=match, after=after, limit=limit)
    )
    return [result(row) for row in rows]


@router.get("/games/{game_id}")
def game(game_id: Id, arena: Arena, token: SeatToken = None) -> dict[str, Any]:
    """The record of a finished game. `token` is that of a seat in it, needed while others still
    play today's deal."""
    return json.loads(records.to_line(arena.people.store.game(game_id, token)))


@router.get("/games/{game_id}/opinion/{stage}")
async def game_opinion(
    game_id: Id,
    stage: Annotated[int, Path(ge=0, le=51)],
    arena: Arena,
    address: Address,
    token: SeatToken = None,
) -> dict[str, Any]:
    """What the analyst thinks of the move `stage` of a finished game, knowing what its player
    knew. `token` as for the game."""
    record = await asyncio.to_thread(arena.people.store.game, game_id, token)
    before = TableGame(record.deal, record.leader)
    for card in record.plays[:stage]:
        before.play(card)
    with arena.opinions.held(address):
        while not arena.analyses.has_room(address):  # others there look at a game too
            await asyncio.sleep(_TURN_SECONDS)
        with arena.analyses.held(address):
            return await arena.own.analyse(position(before))


@router.get("/lost")
def lost(arena: Arena) -> list[dict[str, Any]]:
    """Games that were not finished, the newest first."""
    return arena.store.tables.lost()


async def _check_owner(arena: Arena, owner: Owner) -> None:
    if not await asyncio.to_thread(arena.store.accounts.owns, owner.name, owner.token):
        raise ArenaError("forbidden", "that token does not own the name")
