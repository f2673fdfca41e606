"""What goes over the wire to one seat. Nothing here reads the hand of another seat."""

from typing import Any

from gongzhu_jax.arena.table_game import TableGame
from gongzhu_jax.game.cards import CARD_NAMES


def names(cards) -> list[str]:
    return [CARD_NAMES[card] for card in cards]


def seat_view(game: TableGame, seat: int) -> dict[str, Any]:
    """The view of `seat`: its hand, what everybody saw, and what follows from these."""
    to_move = None if game.is_over else game.mover
    return {
        "seat": seat,
        "hand": names(sorted(game.hands[seat])),
        "leader": game.leader,
        "plays": names(game.plays),
        "stage": game.stage,
        "to_move": to_move,
        "legal": names(game.legal()) if to_move == seat else [],
        "trick": trick_json(game.leaders[-1], game.trick),
        "last_trick": last_trick_json(game),
        "taken": [names(cards) for cards in game.taken],
        "scores": game.scores(),
    }


def trick_json(leader: int, cards: list[int]) -> dict[str, Any]:
    return {"leader": leader, "cards": names(cards)}


def last_trick_json(game: TableGame) -> dict[str, Any] | None:
    last = game.last_trick()
    if last is None:
        return None
    leader, cards, winner = last
    return {**trick_json(leader, cards), "winner": winner}
