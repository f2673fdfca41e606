"""What a person could have done better: each move of a seat in a finished game with the points that
it gave away in the analyst's opinion, and the same deal played by our players in that seat."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from gongzhu_jax import players
from gongzhu_jax.arena.deals import Deal, GameKey
from gongzhu_jax.arena.duplicate import margin, play_again
from gongzhu_jax.arena.effects import By
from gongzhu_jax.arena.own_players import OwnPlayers
from gongzhu_jax.arena.people_store import PeopleStore
from gongzhu_jax.arena.position import Position, position
from gongzhu_jax.arena.rates import Shares
from gongzhu_jax.arena.table_game import TableGame
from gongzhu_jax.errors import ArenaError
from gongzhu_jax.game.cards import CARD_NAMES
from gongzhu_jax.records import Record

WORST = 3
"""Moves that are singled out."""
SMALLEST_LOSS = 0.5
"""Points below which a move is as good as the best."""
SURE = 2.0
"""Standard errors by which a move must be behind the best to be called a mistake."""

_AT_ONCE = 2  # reports, so that many of them keep nobody else waiting for long
_POSITIONS_AT_ONCE = 4  # of one report
_WAITING = 64  # reports
_PER_ADDRESS = 4  # reports that wait or are being written
_BUSY_SECONDS = 1.0  # before a position is tried again

log = logging.getLogger("gongzhu_jax.arena")


@dataclass
class _Work:
    address: str  # of whoever asked first
    done: int = 0
    of: int = 1
    failed: bool = False


class Reports:
    """Made when they are first asked for, beside everything else, and kept."""

    def __init__(
        self,
        own: OwnPlayers,
        store: PeopleStore,
        analyst: Callable[[], str | None],
        spawn: Callable[[Coroutine[Any, Any, None]], Any],
    ) -> None:
        self._own = own
        self._store = store
        self._analyst = analyst
        self._spawn = spawn
        self._work: dict[tuple[int, int], _Work] = {}
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._per_address = Shares(_PER_ADDRESS, "busy", "too many reports for your address")

    async def get(
        self, game_id: int, seat: int, record: Record, key: GameKey | None, address: str
    ) -> dict[str, Any]:
        """The report, or how far it is. `key` is that of our players' random choices in the game,
        where all who play the deal have the same one; `address` is that of whoever asks."""
        where = (game_id, seat)
        if where not in self._work:
            kept = await asyncio.to_thread(self._store.report, game_id, seat)
            if kept is not None:
                return kept
        if where not in self._work:
            analyst = self._analyst()
            if analyst is None:
                raise ArenaError("player", "nobody here can analyse games")
            if len(self._work) >= _WAITING:
                self._work = {at: work for at, work in self._work.items() if not work.failed}
            if len(self._work) >= _WAITING:
                raise ArenaError("busy", "too many reports are being written; try again later")
            self._per_address.take(address)
            self._work[where] = _Work(address)
            self._spawn(self._write(where, record, analyst, key or GameKey(game_id, 0, 0)))
        work = self._work[where]
        if work.failed:
            del self._work[where]
        state = "failed" if work.failed else "working"
        return {"state": state, "game": game_id, "seat": seat, "done": work.done, "of": work.of}

    async def _write(
        self, where: tuple[int, int], record: Record, analyst: str, key: GameKey
    ) -> None:
        game_id, seat = where
        work = self._work[where]
        try:
            async with self._room:
                moves = await self._moves(record, seat, work)
                duplicate = await self._duplicate(record, seat, analyst, key)
            report = {
                "state": "ready",
                "game": game_id,
                "seat": seat,
                "player": analyst,
                "moves": moves,
                "mistakes": [move["stage"] for move in moves if is_mistake(move)],
                "worst": worst(moves),
                "loss": round(sum(move["loss"] for move in moves if is_mistake(move)), 1),
                "margin": margin(record.scores, seat),
                "duplicate": duplicate,
            }
            await asyncio.wrap_future(self._store.keep_report(game_id, seat, report))
        except Exception:
            log.exception("the report of game %s could not be written", game_id)
            work.failed = True
        else:
            del self._work[where]
        finally:
            self._per_address.give_back(work.address)

    async def _moves(self, record: Record, seat: int, work: _Work) -> list[dict[str, Any]]:
        late = {stage: by for _, stage, by in record.metadata.get("late", [])}
        decisions = _decisions(record, seat)
        work.of = sum(known is not None for _, _, known in decisions) + 1  # the deal played again
        room = asyncio.Semaphore(_POSITIONS_AT_ONCE)

        async def move(stage: int, card: str, known: Position | None) -> dict[str, Any]:
            by = late.get(stage, By.SEAT)
            plain = {"stage": stage, "card": card, "by": by}
            if known is None:
                return {**plain, "best": card, "loss": 0.0, "loss_error": 0.0, "q": {}}
            async with room:
                opinion = await self._analyse(known)
            work.done += 1
            lost = opinion["q"][card]
            loss = {"loss": lost["regret"], "loss_error": lost["regret_error"]}
            return {**plain, "best": opinion["card"], **loss, "q": opinion["q"]}

        return await asyncio.gather(*(move(*decision) for decision in decisions))

    async def _analyse(self, known: Position) -> dict[str, Any]:
        """A report can wait while others have their positions analysed."""
        while True:
            try:
                return await self._own.analyse(known)
            except ArenaError as error:
                if error.code != "busy":
                    raise
            await asyncio.sleep(_BUSY_SECONDS)

    async def _duplicate(
        self, record: Record, seat: int, analyst: str, key: GameKey
    ) -> dict[str, Any] | None:
        """The deal again, with the analyst for everybody who is none of our players."""
        if record.players[seat] in players.names():
            return None
        seats = [name if name in players.names() else analyst for name in record.players]
        again = await play_again(self._own, seats, Deal(record.deal, record.leader, key))
        theirs = margin(again["scores"], seat)
        return {**again, "margin": theirs, "gain": margin(record.scores, seat) - theirs}


def is_mistake(move: dict[str, Any]) -> bool:
    """Whether a move of the player was worse than the best by more than half a point and by more
    than chance explains."""
    clear = max(SMALLEST_LOSS, SURE * move["loss_error"])
    return move["by"] == By.SEAT and move["loss"] >= clear


def worst(moves: list[dict[str, Any]]) -> list[int]:
    """Stages of the mistakes that gave away most, the worst first."""
    mistakes = sorted(filter(is_mistake, moves), key=lambda move: -move["loss"])
    return [move["stage"] for move in mistakes[:WORST]]


def _decisions(record: Record, seat: int) -> list[tuple[int, str, Position | None]]:
    """Stage and card of each move of a seat, and what it knew; None where it had no choice."""
    game = TableGame(record.deal, record.leader)
    moves = []
    for stage, card in enumerate(record.plays):
        if game.mover == seat:
            choice = len(game.legal()) > 1
            moves.append((stage, CARD_NAMES[card], position(game) if choice else None))
        game.play(card)
    return moves
