"""Reports of games, and deals of the day with their results, in the arena's database."""

import hashlib
import json
import secrets
import sqlite3
import time
from concurrent.futures import Future
from typing import Any

from gongzhu_jax.arena.store import Store
from gongzhu_jax.errors import ArenaError
from gongzhu_jax.records import Record, parse


class PeopleStore:
    """Reading is for any thread but that of the event loop."""

    def __init__(self, store: Store) -> None:
        self._games = store.games
        self._db = store.database

    # games and reports

    def game(self, game_id: int, token: str | None = None) -> Record:
        """A finished game that may be looked at: by everybody, or, if it is a game of today's
        deal, by whoever has the token of its seat."""
        try:
            return parse(self._games.get(game_id)["record"])
        except ArenaError:
            if token is None or not self._has_played(game_id, token):
                raise
        (row,) = self._db.read("SELECT record FROM games WHERE id = ?", game_id)
        return parse(row["record"])

    def _has_played(self, game_id: int, token: str) -> bool:
        rows = self._db.read("SELECT token_hash FROM daily_results WHERE game_id = ?", game_id)
        return any(secrets.compare_digest(row["token_hash"] or "", _hash(token)) for row in rows)

    def report(self, game_id: int, seat: int) -> dict[str, Any] | None:
        rows = self._db.read(
            "SELECT report FROM reports WHERE game_id = ? AND seat = ?", game_id, seat
        )
        return json.loads(rows[0]["report"]) if rows else None

    def keep_report(self, game_id: int, seat: int, report: dict[str, Any]) -> Future:
        row = (game_id, seat, json.dumps(report))
        return self._db.execute("INSERT OR REPLACE INTO reports VALUES (?, ?, ?)", row)

    # deals of the day. A row of results is made when the deal is shown to somebody; the game and
    # the margin follow at its end.

    def daily_deal(self, day: str, owners: list[int], seed: int) -> tuple[list[int], int]:
        """The deal of a day and the seed of our players in it: these, if there is none yet."""
        row = (day, json.dumps(owners), seed)

        def work(db: sqlite3.Connection) -> tuple[list[int], int]:
            db.execute(
                "INSERT OR IGNORE INTO daily_deals (day, owners, seed) VALUES (?, ?, ?)", row
            )
            query = "SELECT owners, seed FROM daily_deals WHERE day = ?"
            kept = db.execute(query, (day,)).fetchone()
            return json.loads(kept["owners"]), kept["seed"]

        return self._db.submit(work).result()

    def daily_deals(self, since: str) -> list[tuple[str, list[int], int]]:
        """Day, owners and seed of the deals from a day on."""
        rows = self._db.read("SELECT day, owners, seed FROM daily_deals WHERE day >= ?", since)
        return [(row["day"], json.loads(row["owners"]), row["seed"]) for row in rows]

    def benchmark(self, day: str) -> dict[str, Any] | None:
        """How our players did on the deal of a day, if they have played it."""
        rows = self._db.read("SELECT benchmark FROM daily_deals WHERE day = ?", day)
        return json.loads(rows[0]["benchmark"]) if rows and rows[0]["benchmark"] else None

    def keep_benchmark(self, day: str, benchmark: dict[str, Any]) -> Future:
        row = (json.dumps(benchmark), day)
        return self._db.execute("UPDATE daily_deals SET benchmark = ? WHERE day = ?", row)

    def begin_daily(self, day: str, name: str, table_id: str) -> None:
        """Everybody has one try."""
        row = (day, name, table_id, time.time())
        sql = "INSERT INTO daily_results (day, name, table_id, started) VALUES (?, ?, ?, ?)"
        try:
            self._db.execute(sql, row).result()
        except sqlite3.IntegrityError:
            raise ArenaError("played", "that name has had its try at the deal of the day") from None

    def own_daily(self, table_id: str, token: str) -> Future:
        row = (_hash(token), table_id)
        sql = "UPDATE daily_results SET token_hash = ? WHERE table_id = ?"
        return self._db.execute(sql, row)

    def finish_daily(self, table_id: str, game_id: int, margin: int) -> Future:
        row = (game_id, margin, table_id)
        sql = "UPDATE daily_results SET game_id = ?, margin = ? WHERE table_id = ?"
        return self._db.execute(sql, row)

    def forget_daily(self, table_id: str) -> Future:
        """The table was closed before a card was dealt."""
        sql = "DELETE FROM daily_results WHERE table_id = ? AND game_id IS NULL"
        return self._db.execute(sql, (table_id,))

    def daily_results(self, day: str, limit: int) -> list[dict[str, Any]]:
        """The best first."""
        return self._db.read(
            "SELECT name, margin, game_id AS game FROM daily_results "
            "WHERE day = ? AND margin IS NOT NULL ORDER BY margin DESC, started LIMIT ?",
            *(day, limit),
        )

    def daily_count(self, day: str) -> int:
        sql = "SELECT count(margin) AS n FROM daily_results WHERE day = ?"
        return self._db.read(sql, day)[0]["n"]

    def daily_result(self, day: str, name: str) -> dict[str, Any] | None:
        """The try of one name; its margin is None while it goes on, and if it was given up."""
        rows = self._db.read(
            "SELECT name, margin, game_id AS game FROM daily_results WHERE day = ? AND name = ?",
            *(day, name),
        )
        return rows[0] if rows else None


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
