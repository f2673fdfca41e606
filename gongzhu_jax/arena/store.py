"""Games, accounts and matches in SQLite.

One thread writes. What waits for it goes into one transaction, so that many tables that finish at
once share one commit. A game is announced to its players after its commit; whoever heard of a
result will find it here, also after the process was killed.
"""

import hashlib
import json
import queue
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from gongzhu_jax.errors import ArenaError, ConfigError
from gongzhu_jax.records import Record, to_line

SCHEMA_VERSION = 1
_SCHEMA = """
CREATE TABLE accounts (
    name TEXT PRIMARY KEY, token_hash TEXT NOT NULL, created REAL NOT NULL
) STRICT;
CREATE TABLE matches (
    id INTEGER PRIMARY KEY, created REAL NOT NULL, finished REAL,
    first TEXT NOT NULL, second TEXT NOT NULL, deals INTEGER NOT NULL, rotations INTEGER NOT NULL,
    seed INTEGER NOT NULL, status TEXT NOT NULL, margins TEXT, summary TEXT
) STRICT;
CREATE TABLE games (
    id INTEGER PRIMARY KEY, finished REAL NOT NULL, table_id TEXT NOT NULL,
    match_id INTEGER REFERENCES matches, record TEXT NOT NULL
) STRICT;
CREATE INDEX games_of_match ON games (match_id);
CREATE TABLE open_games (
    table_id TEXT PRIMARY KEY, started REAL NOT NULL, players TEXT NOT NULL
) STRICT;
CREATE TABLE lost_games (
    id INTEGER PRIMARY KEY, table_id TEXT NOT NULL, started REAL NOT NULL, players TEXT NOT NULL,
    noticed REAL NOT NULL, reason TEXT NOT NULL
) STRICT;
"""
_GAME = "id, finished, table_id, match_id, record"
# Games of a match that goes on stay closed: the same hands are still to be played.
# So do games of today's deal, which others are still to play.
_PUBLIC = (
    "(match_id IS NULL OR match_id IN (SELECT id FROM matches WHERE status != 'playing')) "
    "AND coalesce(json_extract(record, '$.metadata.daily'), '') < date('now')"
)
_PAGE = 500

Work = Callable[[sqlite3.Connection], Any]


class Store:
    """The database of an arena. Reading is for any thread; writing goes through its own."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._queue: queue.SimpleQueue[tuple[Work, Future] | None] = queue.SimpleQueue()
        try:
            with _connect(path) as connection:
                _prepare(connection)
            connection.close()
        except sqlite3.Error as error:
            raise ConfigError(f"cannot use database {path}: {error}") from error
        self._writer = threading.Thread(target=self._write, name="arena-store", daemon=True)
        self._writer.start()

    def close(self) -> None:
        """Waits until everything is written."""
        self._queue.put(None)
        self._writer.join()
        for reader in self._readers:
            reader.close()

    def submit(self, work: Work) -> Future:
        """Does `work` in the next transaction; the future holds what it returns, once committed."""
        future: Future = Future()
        self._queue.put((work, future))
        return future

    def _write(self) -> None:
        connection = _connect(self.path)
        stop = False
        while not stop:
            batch = [self._queue.get()]
            while not self._queue.empty():
                batch.append(self._queue.get())
            stop = None in batch
            _commit(connection, [item for item in batch if item is not None])
        connection.close()

    # games

    def open_game(self, table_id: str, players: tuple[str, ...]) -> Future:
        row = (table_id, time.time(), json.dumps(players))
        return self.submit(
            lambda db: db.execute("INSERT OR REPLACE INTO open_games VALUES (?, ?, ?)", row)
        )

    def finish_game(self, table_id: str, match_id: int | None, record: Record) -> Future:
        """The future holds the id of the game."""
        row = (time.time(), table_id, match_id, to_line(record))

        def work(db: sqlite3.Connection) -> int | None:
            db.execute("DELETE FROM open_games WHERE table_id = ?", (table_id,))
            return db.execute(
                "INSERT INTO games (finished, table_id, match_id, record) VALUES (?, ?, ?, ?)", row
            ).lastrowid

        return self.submit(work)

    def lose_game(self, table_id: str, reason: str) -> Future:
        return self.submit(lambda db: _lose(db, "WHERE table_id = ?", (table_id,), reason))

    def lose_open_games(self) -> list[dict[str, Any]]:
        """At the start: the games that the last run of the server did not finish."""
        return self.submit(lambda db: _lose(db, "", (), "the server stopped")).result()

    def lost_games(self, limit: int = 100) -> list[dict[str, Any]]:
        rows = self._read("SELECT * FROM lost_games ORDER BY id DESC LIMIT ?", limit)
        return [{**row, "players": json.loads(row["players"])} for row in rows]

    def game(self, game_id: int) -> dict[str, Any]:
        rows = self._read(f"SELECT {_GAME} FROM games WHERE id = ? AND {_PUBLIC}", game_id)
        if not rows:
            raise ArenaError("unknown", f"there is no finished game {game_id} to look at")
        return rows[0]

    def count_games(self) -> int:
        return self._read("SELECT count(*) AS n FROM games")[0]["n"]

    def games(
        self,
        *,
        match: int | None = None,
        player: str | None = None,
        after: int = 0,
        limit: int | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Games by id, a page of them at a time, so that a download holds little in memory."""
        left = limit
        while left is None or left > 0:
            size = _PAGE if left is None else min(_PAGE, left)
            rows = self._read(
                f"SELECT {_GAME} FROM games WHERE id > ? AND {_PUBLIC} "
                "AND (? IS NULL OR match_id = ?) AND (? IS NULL OR EXISTS (SELECT 1 FROM "
                "json_each(record, '$.players') WHERE value = ?)) ORDER BY id LIMIT ?",
                *(after, match, match, player, player, size),
            )
            yield from rows
            if len(rows) < size:
                return
            after = rows[-1]["id"]
            left = None if left is None else left - len(rows)

    # accounts

    def register(self, name: str) -> str:
        """The token of a new account."""
        token = secrets.token_urlsafe(24)
        row = (name, _hash(token), time.time())
        try:
            self.submit(
                lambda db: db.execute("INSERT INTO accounts VALUES (?, ?, ?)", row)
            ).result()
        except sqlite3.IntegrityError:
            raise ArenaError("taken", f"the name {name!r} is taken") from None
        return token

    def account(self, name: str) -> str | None:
        """The hash of the token that owns a name, None if nobody does."""
        rows = self._read("SELECT token_hash FROM accounts WHERE name = ?", name)
        return rows[0]["token_hash"] if rows else None

    def owns(self, name: str, token: str) -> bool:
        found = self.account(name)
        return found is not None and secrets.compare_digest(found, _hash(token))

    def accounts(self) -> list[str]:
        return [row["name"] for row in self._read("SELECT name FROM accounts ORDER BY name")]

    # matches

    def open_match(self, first: str, second: str, deals: int, rotations: int, seed: int) -> int:
        row = (time.time(), first, second, deals, rotations, seed)
        sql = (
            "INSERT INTO matches (created, first, second, deals, rotations, seed, status) "
            "VALUES (?, ?, ?, ?, ?, ?, 'playing')"
        )
        return self.submit(lambda db: db.execute(sql, row).lastrowid).result()

    def finish_match(self, match_id: int, margins: list[float], summary: dict[str, Any]) -> Future:
        row = (time.time(), json.dumps(margins), json.dumps(summary), match_id)
        sql = (
            "UPDATE matches SET finished = ?, margins = ?, summary = ?, status = 'finished' "
            "WHERE id = ?"
        )
        return self.submit(lambda db: db.execute(sql, row))

    def lose_match(self, match_id: int) -> Future:
        sql = "UPDATE matches SET status = 'lost' WHERE id = ?"
        return self.submit(lambda db: db.execute(sql, (match_id,)))

    def lose_open_matches(self) -> list[int]:
        sql = "UPDATE matches SET status = 'lost' WHERE status = 'playing' RETURNING id"
        return self.submit(lambda db: [row["id"] for row in db.execute(sql)]).result()

    def matches(self, limit: int = 100) -> list[dict[str, Any]]:
        """Newest first, without margins."""
        rows = self._read("SELECT * FROM matches ORDER BY id DESC LIMIT ?", limit)
        return [_match(row, with_margins=False) for row in rows]

    def match(self, match_id: int) -> dict[str, Any]:
        rows = self._read("SELECT * FROM matches WHERE id = ?", match_id)
        if not rows:
            raise ArenaError("unknown", f"there is no match {match_id}")
        return _match(rows[0], with_margins=True)

    def finished_margins(self) -> list[tuple[str, str, list[float]]]:
        """First player, second player and margins by deal, of every finished match."""
        rows = self._read("SELECT first, second, margins FROM matches WHERE status = 'finished'")
        return [(row["first"], row["second"], json.loads(row["margins"])) for row in rows]

    def read(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        """Rows of a query, as dictionaries."""
        return self._read(sql, *values)

    def _read(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        if not hasattr(self._local, "connection"):
            self._local.connection = _connect(self.path)
            self._readers.append(self._local.connection)
        return [dict(row) for row in self._local.connection.execute(sql, values)]


def _connect(path: str) -> sqlite3.Connection:
    Path(path).absolute().parent.mkdir(parents=True, exist_ok=True)
    # A connection stays in its thread, except that threads of a pool may end before it is closed.
    connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == SCHEMA_VERSION:
        return
    if version != 0:
        raise ConfigError(f"the database has schema {version}, this program has {SCHEMA_VERSION}")
    connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")


def _commit(connection: sqlite3.Connection, batch: list[tuple[Work, Future]]) -> None:
    """One transaction; work that fails is undone alone."""
    done: list[tuple[Future, Any]] = []
    try:
        connection.execute("BEGIN IMMEDIATE")
        for work, future in batch:
            connection.execute("SAVEPOINT one")
            try:
                done.append((future, work(connection)))
            except Exception as error:
                connection.execute("ROLLBACK TO one")
                future.set_exception(error)
            connection.execute("RELEASE one")
        connection.execute("COMMIT")
    except sqlite3.Error as error:  # a full disk, for example
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        for _, future in batch:
            if not future.done():
                future.set_exception(error)
        return
    for future, result in done:
        future.set_result(result)


def _lose(
    db: sqlite3.Connection, where: str, values: tuple[Any, ...], reason: str
) -> list[dict[str, Any]]:
    rows = [dict(row) for row in db.execute(f"SELECT * FROM open_games {where}", values)]
    for row in rows:
        lost = (row["table_id"], row["started"], row["players"], time.time(), reason)
        db.execute(
            "INSERT INTO lost_games (table_id, started, players, noticed, reason) "
            "VALUES (?, ?, ?, ?, ?)",
            lost,
        )
    db.execute(f"DELETE FROM open_games {where}", values)
    return [{**row, "players": json.loads(row["players"])} for row in rows]


def _match(row: dict[str, Any], *, with_margins: bool) -> dict[str, Any]:
    # The seed tells the deals, so it is nobody's business while they are played.
    hidden = {"seed"} if row["status"] == "playing" else set()
    hidden |= set() if with_margins else {"margins"}
    plain = {name: value for name, value in row.items() if name not in hidden}
    for name in ("margins", "summary"):
        if plain.get(name) is not None:
            plain[name] = json.loads(plain[name])
    return plain


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
