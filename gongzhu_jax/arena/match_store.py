"""Matches in the database."""

import hashlib
import json
import time
from concurrent.futures import Future
from typing import Any

from gongzhu_jax.arena.database import Database
from gongzhu_jax.errors import ArenaError

RUNNING = ("queued", "playing")


class MatchStore:
    def __init__(self, database: Database) -> None:
        self._db = database

    def open(self, owner: str, first: str, second: str, deals: int, seed: str) -> int:
        row = (time.time(), owner, first, second, deals, seed)
        sql = (
            "INSERT INTO matches (created, owner, first, second, deals, seed, status) "
            "VALUES (?, ?, ?, ?, ?, ?, 'queued')"
        )
        return self._db.submit(lambda db: db.execute(sql, row).lastrowid).result()

    def begin(self, match_id: int) -> Future:
        return self._db.execute("UPDATE matches SET status = 'playing' WHERE id = ?", (match_id,))

    def progress(self, match_id: int, deals_finished: int, clock_moves: list[int]) -> Future:
        return self._db.execute(
            "UPDATE matches SET deals_finished = ?, first_clock_moves = ?, second_clock_moves = ? "
            "WHERE id = ?",
            (deals_finished, *clock_moves, match_id),
        )

    def end(
        self, match_id: int, status: str, margins: list[float], summary: dict[str, Any] | None
    ) -> Future:
        row = (time.time(), status, json.dumps(margins), json.dumps(summary), match_id)
        return self._db.execute(
            "UPDATE matches SET finished = ?, status = ?, margins = ?, summary = ? WHERE id = ?",
            row,
        )

    def running(self) -> list[dict[str, Any]]:
        """Matches that a stopped server has to go on with, the oldest first. Holds secrets."""
        return self._db.read(
            "SELECT * FROM matches WHERE status IN ('queued', 'playing') ORDER BY id"
        )

    def newest(self, limit: int, before: int) -> list[dict[str, Any]]:
        """Newest first, without margins."""
        rows = self._db.read(
            "SELECT * FROM matches WHERE id < ? ORDER BY id DESC LIMIT ?", before, limit
        )
        return [_public(row, with_margins=False) for row in rows]

    def get(self, match_id: int) -> dict[str, Any]:
        rows = self._db.read("SELECT * FROM matches WHERE id = ?", match_id)
        if not rows:
            raise ArenaError("unknown", f"there is no match {match_id}")
        return _public(rows[0], with_margins=True)

    def count_over(self) -> int:
        """How many matches are over."""
        sql = "SELECT count(*) AS n FROM matches WHERE status IN ('finished', 'cancelled')"
        return self._db.read(sql)[0]["n"]

    def results(self) -> list[dict[str, Any]]:
        """Players, margins by deal and clock moves of every match that is over."""
        rows = self._db.read(
            "SELECT first, second, margins, first_clock_moves, second_clock_moves FROM matches "
            "WHERE status IN ('finished', 'cancelled') AND margins IS NOT NULL"
        )
        return [{**row, "margins": json.loads(row["margins"])} for row in rows]


def commitment(seed: str) -> str:
    """What is published of a seed before its deals are played."""
    return hashlib.sha256(seed.encode()).hexdigest()


def _public(row: dict[str, Any], *, with_margins: bool) -> dict[str, Any]:
    # The seed tells the deals, so it is nobody's business while they are played.
    hidden = {"seed"} if row["status"] in RUNNING else set()
    hidden |= {"first_clock_moves", "second_clock_moves"}
    hidden |= set() if with_margins else {"margins"}
    plain = {name: value for name, value in row.items() if name not in hidden}
    for name in ("margins", "summary"):
        if plain.get(name) is not None:
            plain[name] = json.loads(plain[name])
    clock_moves = [row["first_clock_moves"], row["second_clock_moves"]]
    return {**plain, "commitment": commitment(row["seed"]), "clock_moves": clock_moves}
