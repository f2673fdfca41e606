"""What OpenSpiel shows a player of a state: tensors in named parts, and strings.

With perfect recall (information states) it is the hand and the whole history, without (its
observations) the hand, the table and what everybody has taken. Seats are absolute.
"""

from typing import Any

import numpy as np

from gongzhu_jax.adapters.extras import needs_extra
from gongzhu_jax.game.cards import CARD_NAMES, NOBODY, NUM_CARDS, NUM_SEATS
from gongzhu_jax.game.host_game import HostGame

with needs_extra("openspiel"):
    import pyspiel

_HISTORY = {"leader": (NUM_SEATS,), "plays": (NUM_CARDS, NUM_CARDS)}
_TABLE = {
    "to_move": (NUM_SEATS,),
    "trick": (NUM_SEATS, NUM_CARDS),
    "taken": (NUM_SEATS, NUM_CARDS),
}


class Observer:
    """An observer as OpenSpiel's Python games have them."""

    def __init__(self, kind: Any, params: Any = None) -> None:
        if params:
            raise ValueError(f"this observer has no parameters, not {params}")
        shapes: dict[str, tuple[int, ...]] = {"player": (NUM_SEATS,)}
        if kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER:
            shapes["hand"] = (NUM_CARDS,)
        elif kind.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS:
            shapes["hands"] = (NUM_SEATS, NUM_CARDS)
        if kind.public_info:
            shapes |= _HISTORY if kind.perfect_recall else _TABLE
        ends = np.cumsum([np.prod(shape) for shape in shapes.values()]).tolist()
        self.tensor = np.zeros(ends[-1], np.float32)
        parts = np.split(self.tensor, ends[:-1])  # views of it
        self.dict = {
            name: part.reshape(shape)
            for (name, shape), part in zip(shapes.items(), parts, strict=True)
        }

    def set_from(self, state: Any, player: int) -> None:
        """Puts what `player` sees into `tensor`, and thereby into the parts of `dict`."""
        game: HostGame = state.table
        self.tensor.fill(0)
        self.dict["player"][player] = 1
        if "hand" in self.dict:
            self.dict["hand"][game.hands[player]] = 1
        if "hands" in self.dict:
            for seat, hand in enumerate(game.hands):
                self.dict["hands"][seat, hand] = 1
        if "plays" in self.dict:
            self.dict["leader"][game.leaders[0]] = 1
            self.dict["plays"][np.arange(len(game.plays)), game.plays] = 1
        if "taken" in self.dict:
            self._set_table(game)

    def _set_table(self, game: HostGame) -> None:
        if game.is_dealt and not game.is_over:
            self.dict["to_move"][game.mover] = 1
        for place, card in enumerate(game.trick):
            self.dict["trick"][(game.leaders[-1] + place) % NUM_SEATS, card] = 1
        for card, seat in enumerate(game.taken_by):
            if seat != NOBODY:
                self.dict["taken"][seat, card] = 1

    def string_from(self, state: Any, player: int) -> str:
        """What `player` sees as text; equal texts, equal tensors."""
        game: HostGame = state.table
        parts = [f"seat {player}"]
        if "hand" in self.dict:
            parts.append(f"hand {_names(game.hands[player])}")
        if "hands" in self.dict:
            parts += [f"hand {seat} {_names(hand)}" for seat, hand in enumerate(game.hands)]
        if "plays" in self.dict:
            parts.append(f"leader {game.leaders[0]} plays {_names(game.plays)}")
        if "taken" in self.dict:
            taken = [
                [card for card in range(NUM_CARDS) if game.taken_by[card] == seat]
                for seat in range(NUM_SEATS)
            ]
            parts.append(f"leader {game.leaders[-1]} trick {_names(game.trick)}")
            parts += [f"taken {seat} {_names(cards)}" for seat, cards in enumerate(taken)]
        return "; ".join(parts)


def _names(cards: list[int]) -> str:
    return " ".join([CARD_NAMES[card] for card in cards])
