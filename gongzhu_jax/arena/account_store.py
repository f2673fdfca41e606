"""Registered names and the tokens that own them."""

import hashlib
import secrets
import sqlite3
import time
from concurrent.futures import Future

from gongzhu_jax.arena.database import Database
from gongzhu_jax.arena.names import skeleton
from gongzhu_jax.errors import ArenaError

_DAY = 86_400.0


class AccountStore:
    def __init__(self, database: Database) -> None:
        self._db = database

    def register(self, name: str) -> str:
        """The token of a new account."""
        token, now = secrets.token_urlsafe(24), time.time()
        row = (name, skeleton(name), _hash(token), now, now)
        try:
            self._db.execute("INSERT INTO accounts VALUES (?, ?, ?, ?, ?)", row).result()
        except sqlite3.IntegrityError:
            raise ArenaError("taken", "that name is taken, or looks like one that is") from None
        return token

    def lookalike(self, name: str) -> str | None:
        """The registered name that a name is, or could be mistaken for."""
        rows = self._db.read("SELECT name FROM accounts WHERE skeleton = ?", skeleton(name))
        return rows[0]["name"] if rows else None

    def owns(self, name: str, token: str) -> bool:
        rows = self._db.read("SELECT token_hash FROM accounts WHERE name = ?", name)
        if not rows or not secrets.compare_digest(rows[0]["token_hash"], _hash(token)):
            return False
        self._db.execute("UPDATE accounts SET seen = ? WHERE name = ?", (time.time(), name))
        return True

    def forget_unused(self, days: float) -> Future:
        """Gives names free that were not used for so long and never played a match."""
        return self._db.execute(
            "DELETE FROM accounts WHERE seen < ? AND name NOT IN (SELECT first FROM matches) "
            "AND name NOT IN (SELECT second FROM matches)",
            (time.time() - days * _DAY,),
        )


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
