"""The list of tables, sent to those who look at it whenever it changes."""

from typing import Any

from gongzhu_jax.arena.connection import Connection, to_text
from gongzhu_jax.arena.effects import Phase
from gongzhu_jax.arena.lobby import Lobby
from gongzhu_jax.arena.spectators import may_be_watched
from gongzhu_jax.arena.table import Table

MOST_TABLES = 40
_SECONDS = 1.0  # at least, between two lists


class TableList:
    def __init__(self, lobby: Lobby) -> None:
        self._lobby = lobby
        self._subscribers: set[Connection] = set()
        self._text = ""
        self._sent = 0.0

    def subscribe(self, connection: Connection, *, on: bool) -> None:
        if on:
            self._subscribers.add(connection)
            connection.send(self.message())
        else:
            self._subscribers.discard(connection)

    def tick(self, now: float) -> None:
        if not self._subscribers or now - self._sent < _SECONDS:
            return
        self._sent = now
        self._subscribers = {one for one in self._subscribers if not one.closed}
        text = to_text(self.message())
        if text != self._text:
            self._text = text
            for connection in self._subscribers:
                connection.push(text)

    def message(self) -> dict[str, Any]:
        """Tables to sit down at first, then those to watch."""
        listed = [at for at in self._lobby.tables.values() if _is_listed(at)]
        listed.sort(key=lambda at: at.phase is Phase.PLAYING)
        return {
            "type": "tables",
            "tables": [at.summary() for at in listed[:MOST_TABLES]],
            "people": len(self._lobby.clients.connections),
        }


def _is_listed(at: Table) -> bool:
    """Tables with nobody but programs of ours have nobody to meet."""
    public = at.rules.invitation is None and may_be_watched(at)
    return public and any(place.token for place in at.seats)
