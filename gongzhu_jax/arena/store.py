"""Everything that an arena keeps, in one SQLite file."""

from gongzhu_jax.arena.account_store import AccountStore
from gongzhu_jax.arena.database import Database
from gongzhu_jax.arena.game_store import GameStore
from gongzhu_jax.arena.match_store import MatchStore
from gongzhu_jax.arena.open_table_store import OpenTableStore


class Store:
    def __init__(self, path: str) -> None:
        self.database = Database(path)
        self.games = GameStore(self.database)
        self.accounts = AccountStore(self.database)
        self.matches = MatchStore(self.database)
        self.tables = OpenTableStore(self.database)

    def close(self) -> None:
        """Waits until everything is written."""
        self.database.close()
