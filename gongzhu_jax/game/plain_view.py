"""A view in plain types, for players written in plain Python. Clients of the arena get the same."""

from typing import Any

import jax
import numpy as np

from gongzhu_jax.game.cards import CARD_NAMES, NOBODY, NUM_SEATS, POINT_CARDS
from gongzhu_jax.game.host_game import HostGame
from gongzhu_jax.game.public_view import PublicView

_POINT_CARDS = frozenset(POINT_CARDS.tolist())


def plain_view(view: PublicView) -> dict[str, Any]:
    """What the seat of one view knows, with cards by name; docs/own_player.md lists the fields."""
    seen: PublicView = jax.tree.map(np.asarray, view)
    seat = int(seen.seat)
    # No card but the viewer's own is in this game, so nothing hidden can come out of it.
    game = HostGame.resume(seen, np.where(seen.hand, seat, NOBODY).tolist())
    to_move = None if game.is_over else game.mover
    return {
        "seat": seat,
        "hand": _names(game.hands[seat]),
        "leader": game.leaders[0],
        "plays": _names(game.plays),
        "stage": len(game.plays),
        "to_move": to_move,
        "legal": _names(game.legal()) if to_move == seat else [],
        "trick": {"leader": game.leaders[-1], "cards": _names(game.trick)},
        "last_trick": _last_trick(game),
        "taken": [
            [CARD_NAMES[c] for c in game.plays if c in _POINT_CARDS and game.taken_by[c] == taker]
            for taker in range(NUM_SEATS)
        ],
        "scores": game.scores(),
    }


def _last_trick(game: HostGame) -> dict[str, Any] | None:
    end = len(game.plays) - len(game.plays) % NUM_SEATS
    if end == 0:
        return None
    cards = _names(game.plays[end - NUM_SEATS : end])
    return {"leader": game.leaders[-2], "cards": cards, "winner": game.leaders[-1]}


def _names(cards: list[int]) -> list[str]:
    return [CARD_NAMES[card] for card in cards]
