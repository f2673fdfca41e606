"""The ratings as they are now, fitted again only when a match has ended."""

from collections.abc import Callable, Collection
from typing import Any

from gongzhu_jax.arena.match_store import MatchStore
from gongzhu_jax.arena.ratings import rating_table


class RatingBoard:
    def __init__(self, matches: MatchStore, own: Callable[[], Collection[str]]) -> None:
        self._matches = matches
        self._own = own
        self._fitted: tuple[Any, dict[str, Any]] | None = None

    def table(self) -> dict[str, Any]:
        # Many may ask, so what was fitted is kept with the number of matches that it is from.
        version = self._matches.count_over(), tuple(self._own())
        if self._fitted is None or self._fitted[0] != version:
            self._fitted = version, rating_table(self._matches.results(), version[1])
        return self._fitted[1]
