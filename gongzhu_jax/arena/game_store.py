"""Finished games in the database."""

import json
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

from gongzhu_jax.arena.database import Database
from gongzhu_jax.errors import ArenaError
from gongzhu_jax.records import Record, to_line

_GAME = "id, finished, table_id, match_id, record"
# Games of a match that goes on stay closed: its deals are nobody's business yet. Nor is today's
# deal, which others are still to play.
_PUBLIC = (
    "(match_id IS NULL OR match_id NOT IN "
    "(SELECT id FROM matches WHERE status IN ('queued', 'playing'))) "
    "AND coalesce(json_extract(record, '$.metadata.daily'), '') < date('now')"
)
_PAGE = 500


class GameStore:
    def __init__(self, database: Database) -> None:
        self._db = database

    def finish(self, table_id: str, match_id: int | None, record: Record) -> Future:
        """Keeps a finished game instead of its plays; the future holds its id."""
        row = (time.time(), table_id, match_id, to_line(record))

        def work(db: sqlite3.Connection) -> int | None:
            db.execute("DELETE FROM open_plays WHERE table_id = ?", (table_id,))
            # Should the process be killed now, the table comes back between two games.
            db.execute(
                "UPDATE open_tables SET state = json_set(state, '$.deal', NULL) WHERE table_id = ?",
                (table_id,),
            )
            game_id = db.execute(
                "INSERT INTO games (finished, table_id, match_id, record) VALUES (?, ?, ?, ?)", row
            ).lastrowid
            db.executemany(
                "INSERT INTO game_players VALUES (?, ?)",
                [(name, game_id) for name in set(record.players)],
            )
            return game_id

        return self._db.submit(work)

    def get(self, game_id: int) -> dict[str, Any]:
        rows = self._db.read(f"SELECT {_GAME} FROM games WHERE id = ? AND {_PUBLIC}", game_id)
        if not rows:
            raise ArenaError("unknown", f"there is no finished game {game_id} to look at")
        return rows[0]

    def count(self) -> int:
        return self._db.read("SELECT count(*) AS n FROM games")[0]["n"]

    def newest(
        self, *, player: str | None, match: int | None, before: int, limit: int
    ) -> list[dict[str, Any]]:
        """The last games with smaller ids than `before`, the newest first."""
        return self._page(player, match, f"id < {before}", "DESC", limit)

    def oldest(
        self, *, player: str | None = None, match: int | None = None, after: int = 0, limit: int
    ) -> Iterator[dict[str, Any]]:
        """Games by id, some of them at a time, so that a download holds little in memory."""
        left = limit
        while left > 0:
            rows = self._page(player, match, f"id > {after}", "ASC", min(_PAGE, left))
            yield from rows
            if len(rows) < min(_PAGE, left):
                return
            after = rows[-1]["id"]
            left -= len(rows)

    def of_match(self, match_id: int) -> list[dict[str, Any]]:
        """All finished games of a match, also while it goes on: for the server only."""
        rows = self._db.read("SELECT record FROM games WHERE match_id = ?", match_id)
        return [json.loads(row["record"]) for row in rows]

    def _page(
        self, player: str | None, match: int | None, where: str, order: str, limit: int
    ) -> list[dict[str, Any]]:
        source, conditions, values = "games", [where, _PUBLIC], []
        if player is not None:
            # In the order of the index on (name, game_id), so other games are not looked at.
            source = "game_players CROSS JOIN games ON id = game_id"
            conditions += ["name = ?", where.replace("id", "game_id")]
            values.append(player)
        if match is not None:
            conditions.append("match_id = ?")
            values.append(match)
        by = "id" if player is None else "game_id"
        sql = f"SELECT {_GAME} FROM {source} WHERE {' AND '.join(conditions)}"
        return self._db.read(f"{sql} ORDER BY {by} {order} LIMIT ?", *values, limit)
