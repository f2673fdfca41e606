"""A game at a table: what was dealt is remembered, and every play is checked."""

from collections.abc import Sequence
from typing import Any

from gongzhu_jax.errors import IllegalPlayError
from gongzhu_jax.game.cards import (
    CARD_NAMES,
    NOBODY,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SEATS,
    POINT_CARDS,
    SUIT_NAMES,
)
from gongzhu_jax.game.host_game import HostGame
from gongzhu_jax.records import Record

_POINT_CARDS = frozenset(POINT_CARDS.tolist())


class TableGame(HostGame):
    """A game in progress, hidden cards included; `play` keeps the rules."""

    __slots__ = ("dealt",)

    def __init__(self, owners: Sequence[int], leader: int) -> None:
        super().__init__(leader)
        self.num_dealt = NUM_CARDS
        self.redeal(owners)
        self.dealt = tuple(owners)  # [52] seat that was dealt each card

    @property
    def leader(self) -> int:
        """The seat that leads to the first trick."""
        return self.leaders[0]

    @property
    def stage(self) -> int:
        """Number of cards played."""
        return len(self.plays)

    @property
    def taken(self) -> list[list[int]]:
        """Point cards of each taker, in the order played."""
        taken: list[list[int]] = [[] for _ in range(NUM_SEATS)]
        for card in self.plays:
            if card in _POINT_CARDS and (seat := self.taken_by[card]) != NOBODY:
                taken[seat].append(card)
        return taken

    def play_checked(self, card: int) -> int | None:
        """Plays `card` for the seat to move; the seat that takes the trick, if it is full now.

        Raises `IllegalPlayError`, and nothing has changed, if it may not be played.
        """
        if self.is_over or card not in self.legal():
            raise IllegalPlayError(self._why_not(card))
        self.play(card)
        return self.leaders[-1] if len(self.plays) % NUM_SEATS == 0 else None

    def last_trick(self) -> tuple[int, list[int], int] | None:
        """Leader, cards in the order played, and winner of the last full trick."""
        end = len(self.plays) - len(self.plays) % NUM_SEATS
        if end == 0:
            return None
        return self.leaders[-2], self.plays[end - NUM_SEATS : end], self.leaders[-1]

    def record(self, players: Sequence[str], metadata: dict[str, Any]) -> Record:
        """The finished game, to be kept."""
        return Record(
            deal=self.dealt,
            leader=self.leader,
            plays=tuple(self.plays),
            players=tuple(players),
            scores=tuple(self.scores()),
            metadata=metadata,
        )

    def _why_not(self, card: int) -> str:
        """Says nothing about the hands of others."""
        if self.is_over:
            return "the game is over"
        name, seat = CARD_NAMES[card], self.mover
        if card not in self.hands[seat]:
            return f"seat {seat} does not hold {name}"
        suit = SUIT_NAMES[self.trick[0] // NUM_RANKS]
        return f"{name} may not be played: seat {seat} must follow {suit}"
