"""Games as anybody may watch them: late, and made of nothing but the cards that were played."""

from collections import deque
from typing import Any

from gongzhu_jax.arena.connection import Connection, to_text
from gongzhu_jax.arena.effects import Closed, Effect, SavePlay, Send
from gongzhu_jax.arena.seat_view import last_trick_json, names, trick_json
from gongzhu_jax.arena.table import Table
from gongzhu_jax.arena.table_game import TableGame
from gongzhu_jax.errors import ArenaError
from gongzhu_jax.game.host_game import HostGame


class ShownGame(TableGame):
    """A game of which no hand was ever seen: a seat has a card when it plays it."""

    def __init__(self, leader: int) -> None:
        HostGame.__init__(self, leader)
        self.dealt = ()

    def show(self, card: int) -> None:
        self.hands[self.mover].append(card)
        self.play(card)

    def to_json(self) -> dict[str, Any]:
        return {
            "leader": self.leader,
            "plays": names(self.plays),
            "stage": self.stage,
            "to_move": None if self.is_over else self.mover,
            "trick": trick_json(self.leaders[-1], self.trick),
            "last_trick": last_trick_json(self),
            "taken": [names(cards) for cards in self.taken],
            "scores": self.scores(),
        }


class Watched:
    """One table: what waits until it may be shown, and what is shown."""

    def __init__(self, at: Table, now: float) -> None:
        self.at = at
        self.connections: set[Connection] = set()
        self.text = ""  # the last that was sent
        # (leader, stage, card) of each play, and the id of each game that has ended
        self._waiting: deque[tuple[float, tuple[int, int, int] | int]] = deque()
        self._game: ShownGame | None = None
        self._finished: int | None = None  # the id of the game, once it is over
        if at.game is not None:  # it began before anybody listened, as after a restart
            for stage, card in enumerate(at.game.plays):
                self._waiting.append((now, (at.game.leader, stage, card)))

    def heard(self, effect: Effect, now: float) -> None:
        if isinstance(effect, SavePlay):
            assert self.at.game is not None
            self._waiting.append((now, (self.at.game.leader, effect.stage, effect.card)))
        elif isinstance(effect, Send) and effect.message["type"] == "game_end":
            self._waiting.append((now, effect.message["game"]))

    def release(self, until: float) -> None:
        """Shows what happened up to a time."""
        while self._waiting and self._waiting[0][0] <= until:
            event = self._waiting.popleft()[1]
            if isinstance(event, int):
                self._finished = event
                continue
            leader, stage, card = event
            if stage == 0:
                self._game, self._finished = ShownGame(leader), None
            if self._game is not None and stage == self._game.stage:
                self._game.show(card)

    def message(self, delay: float) -> dict[str, Any]:
        return {
            "type": "watched",
            "table": self.at.id,
            "delay": delay,
            "seats": self.at.summary()["seats"],
            "view": None if self._game is None else self._game.to_json(),
            "game": self._finished,
        }


class Spectators:
    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._tables: dict[str, Watched] = {}
        self._watching: dict[Connection, Watched] = {}

    def heard(self, at: Table, effect: Effect, now: float) -> None:
        if not may_be_watched(at):
            return
        watched = self._watched(at, now)
        watched.heard(effect, now)
        watched.release(now - self._delay)
        if isinstance(effect, Closed):
            self._close(watched)

    def _watched(self, at: Table, now: float) -> Watched:
        if at.id not in self._tables:
            self._tables[at.id] = Watched(at, now)
        return self._tables[at.id]

    def watch(self, connection: Connection, at: Table, now: float) -> None:
        """Shows the table to a connection from now on; it watches one table at a time."""
        if not may_be_watched(at):
            raise ArenaError("forbidden", "games of matches and of the day's deal are not shown")
        self.unwatch(connection)
        watched = self._watched(at, now)
        watched.connections.add(connection)
        self._watching[connection] = watched
        watched.release(now - self._delay)
        connection.send(watched.message(self._delay))

    def unwatch(self, connection: Connection) -> None:
        watched = self._watching.pop(connection, None)
        if watched is not None:
            watched.connections.discard(connection)

    def tick(self, now: float) -> None:
        for connection in [gone for gone in self._watching if gone.closed]:
            self.unwatch(connection)
        for watched in set(self._watching.values()):
            watched.release(now - self._delay)
            text = to_text(watched.message(self._delay))
            if text != watched.text:
                watched.text = text
                for connection in watched.connections:
                    connection.push(text)

    def _close(self, watched: Watched) -> None:
        """Whoever watches is told at once: what was not shown yet can be replayed."""
        self._tables.pop(watched.at.id, None)
        for connection in list(watched.connections):
            connection.send({"type": "unwatched", "table": watched.at.id})
            self.unwatch(connection)


def may_be_watched(at: Table) -> bool:
    """Their cards are played again by others."""
    return at.rules.match is None and at.rules.daily is None
