"""The SQLite file of an arena: its schema, its lock, its readers and its one writer.

One thread writes. What waits for it goes into one transaction, so that many tables that finish at
once share one commit. A game is announced to its players after its commit; whoever heard of a
result will find it here, also after the process was killed.
"""

import fcntl
import logging
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from gongzhu_jax.errors import ConfigError

SCHEMA_VERSION = 2
_SCHEMA = """
CREATE TABLE accounts (
    name TEXT PRIMARY KEY, skeleton TEXT NOT NULL UNIQUE, token_hash TEXT NOT NULL,
    created REAL NOT NULL, seen REAL NOT NULL
) STRICT;
CREATE TABLE matches (
    id INTEGER PRIMARY KEY, created REAL NOT NULL, finished REAL, owner TEXT NOT NULL,
    first TEXT NOT NULL, second TEXT NOT NULL, deals INTEGER NOT NULL,
    seed TEXT NOT NULL, status TEXT NOT NULL, deals_finished INTEGER NOT NULL DEFAULT 0,
    first_clock_moves INTEGER NOT NULL DEFAULT 0, second_clock_moves INTEGER NOT NULL DEFAULT 0,
    margins TEXT, summary TEXT
) STRICT;
CREATE TABLE games (
    id INTEGER PRIMARY KEY, finished REAL NOT NULL, table_id TEXT NOT NULL,
    match_id INTEGER REFERENCES matches, record TEXT NOT NULL
) STRICT;
CREATE INDEX games_of_match ON games (match_id);
CREATE TABLE game_players (
    name TEXT NOT NULL, game_id INTEGER NOT NULL REFERENCES games, PRIMARY KEY (name, game_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE open_tables (
    table_id TEXT PRIMARY KEY, started REAL NOT NULL, state TEXT NOT NULL
) STRICT;
CREATE TABLE open_plays (
    table_id TEXT NOT NULL, stage INTEGER NOT NULL, card INTEGER NOT NULL, chosen_by TEXT NOT NULL,
    PRIMARY KEY (table_id, stage)
) STRICT, WITHOUT ROWID;
CREATE TABLE lost_games (
    id INTEGER PRIMARY KEY, table_id TEXT NOT NULL, started REAL NOT NULL, players TEXT NOT NULL,
    noticed REAL NOT NULL, reason TEXT NOT NULL
) STRICT;
CREATE TABLE reports (
    game_id INTEGER NOT NULL REFERENCES games, seat INTEGER NOT NULL, report TEXT NOT NULL,
    PRIMARY KEY (game_id, seat)
) STRICT, WITHOUT ROWID;
CREATE TABLE daily_deals (
    day TEXT PRIMARY KEY, owners TEXT NOT NULL, seed INTEGER NOT NULL, benchmark TEXT
) STRICT;
CREATE TABLE daily_results (
    day TEXT NOT NULL, name TEXT NOT NULL, table_id TEXT NOT NULL, started REAL NOT NULL,
    token_hash TEXT, game_id INTEGER REFERENCES games, margin INTEGER, PRIMARY KEY (day, name)
) STRICT;
CREATE INDEX daily_game ON daily_results (game_id);
CREATE INDEX daily_table ON daily_results (table_id);
"""

Work = Callable[[sqlite3.Connection], Any]
Row = tuple[str, tuple[Any, ...]]
"""A statement and its values."""
Task = tuple[Work | Row, Future | None]

_GATHER_SECONDS = 0.01
"""Rows wait this long for others to share a commit with."""

log = logging.getLogger("gongzhu_jax.arena")


class Database:
    """One file, used by one process. Reading is for any thread; writing goes through its own."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._queue: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._lock = _lock(path)
        try:
            connection = _connect(path)
            _prepare(connection)
            connection.close()
        except (sqlite3.Error, ConfigError) as error:
            self._lock.close()
            raise ConfigError(f"cannot use database {path}: {error}") from error
        self._writer = threading.Thread(target=self._write, name="arena-store", daemon=True)
        self._writer.start()

    def close(self) -> None:
        """Waits until everything is written."""
        self._queue.put(None)
        self._writer.join()
        for reader in self._readers:
            reader.close()
        self._lock.close()

    def submit(self, work: Work) -> Future:
        """Does `work` in the next transaction; the future holds what it returns, once committed."""
        future: Future = Future()
        self._queue.put((work, future))
        return future

    def write_soon(self, sql: str, values: tuple[Any, ...]) -> None:
        """One statement in the next transaction, for what is written often and waited for by
        nobody."""
        self._queue.put(((sql, values), None))

    def execute(self, sql: str, values: tuple[Any, ...]) -> Future:
        """One statement in the next transaction."""
        return self.submit(lambda db: db.execute(sql, values))

    def read(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        if not hasattr(self._local, "connection"):
            self._local.connection = _connect(self.path)
            self._readers.append(self._local.connection)
        return [dict(row) for row in self._local.connection.execute(sql, values)]

    def _write(self) -> None:
        connection = _connect(self.path)
        stop = False
        while not stop:
            batch = [self._queue.get()]
            if batch[0] is not None and batch[0][1] is None:
                time.sleep(_GATHER_SECONDS)  # nobody waits for it
            while not self._queue.empty():
                batch.append(self._queue.get())
            stop = None in batch
            _commit(connection, [item for item in batch if item is not None])
        connection.close()


def _lock(path: str) -> Any:
    """An open file that no other process can lock; the lock ends with the process."""
    lock = Path(f"{path}.lock").absolute()
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        file = lock.open("a")
    except OSError as error:
        raise ConfigError(f"cannot use database {path}: {error}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise ConfigError(f"database {path} is used by another arena that is running") from None
    return file


def _connect(path: str) -> sqlite3.Connection:
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
        raise ConfigError(
            f"it has schema {version}, and this program has {SCHEMA_VERSION}; choose another file"
        )
    connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")


def _commit(connection: sqlite3.Connection, batch: list[Task]) -> None:
    """One transaction; work that fails is undone alone."""
    done: list[tuple[Future, Any]] = []
    try:
        connection.execute("BEGIN IMMEDIATE")
        for work, future in batch:
            if future is None or isinstance(work, tuple):
                assert isinstance(work, tuple)
                _write_row(connection, work)
                continue
            connection.execute("SAVEPOINT one")
            try:
                done.append((future, work(connection)))
            except Exception as error:
                connection.execute("ROLLBACK TO one")
                future.set_exception(error)
            connection.execute("RELEASE one")
        connection.execute("COMMIT")
    except sqlite3.Error as error:  # a full disk, for example
        log.exception("the database cannot be written")
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        for _, future in batch:
            if future is not None and not future.done():
                future.set_exception(error)
        return
    for future, result in done:
        future.set_result(result)


def _write_row(connection: sqlite3.Connection, row: Row) -> None:
    try:
        connection.execute(*row)
    except sqlite3.Error:
        log.exception("a row could not be written")
