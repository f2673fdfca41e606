"""Tables that are open now, with the cards played so far: what a killed server goes on with."""

import json
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

from pydantic_core import to_json

from gongzhu_jax.arena.database import Database

_LOST_KEPT = 1000
"""Rows of lost games; older ones are forgotten."""


class OpenTableStore:
    def __init__(self, database: Database) -> None:
        self._db = database

    def save(self, table_id: str, state: dict[str, Any]) -> None:
        row = (table_id, time.time(), to_json(state).decode())
        self._db.write_soon(
            "INSERT INTO open_tables VALUES (?, ?, ?) "
            "ON CONFLICT (table_id) DO UPDATE SET state = excluded.state",
            row,
        )

    def save_play(self, table_id: str, stage: int, card: int, by: str) -> None:
        row = (table_id, stage, card, by)
        self._db.write_soon("INSERT OR REPLACE INTO open_plays VALUES (?, ?, ?, ?)", row)

    def close(self, table_id: str, lost: str | None) -> Future:
        """Forgets a table; `lost` is why its game was not finished, None if there was none."""
        noticed = time.time()

        def work(db: sqlite3.Connection) -> None:
            if lost is not None:
                db.execute(
                    "INSERT INTO lost_games (table_id, started, players, noticed, reason) "
                    "SELECT table_id, started, json_extract(state, '$.names'), ?, ? "
                    "FROM open_tables WHERE table_id = ?",
                    (noticed, lost, table_id),
                )
                db.execute(
                    "DELETE FROM lost_games WHERE id <= (SELECT max(id) FROM lost_games) - ?",
                    (_LOST_KEPT,),
                )
            db.execute("DELETE FROM open_tables WHERE table_id = ?", (table_id,))
            db.execute("DELETE FROM open_plays WHERE table_id = ?", (table_id,))

        return self._db.submit(work)

    def all(self) -> Iterator[tuple[str, dict[str, Any], list[tuple[int, str]]]]:
        """Id, state and plays of every table that was open when the server stopped."""
        for row in self._db.read("SELECT table_id, state FROM open_tables ORDER BY started"):
            plays = self._db.read(
                "SELECT card, chosen_by FROM open_plays WHERE table_id = ? ORDER BY stage",
                row["table_id"],
            )
            state = json.loads(row["state"])
            yield row["table_id"], state, [(play["card"], play["chosen_by"]) for play in plays]

    def lost(self, limit: int = 100) -> list[dict[str, Any]]:
        """Games that were not finished, the newest first."""
        rows = self._db.read("SELECT * FROM lost_games ORDER BY id DESC LIMIT ?", limit)
        return [{**row, "players": json.loads(row["players"])} for row in rows]
