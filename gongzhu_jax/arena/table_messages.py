"""The messages of a table to its clients. Only `game_end` names cards that were hidden."""

from typing import Any

from gongzhu_jax.arena.effects import By, Send
from gongzhu_jax.arena.seat_view import last_trick_json, names, seat_view
from gongzhu_jax.arena.table_game import TableGame
from gongzhu_jax.game.cards import CARD_NAMES, NUM_CARDS, NUM_SEATS


def seated_message(table_id: str, seat: int, token: str, match: int | None) -> dict[str, Any]:
    """Tells a client that a seat is its own; in a match it did not ask for it."""
    message = {"type": "seated", "table": table_id, "seat": seat, "token": token}
    return message if match is None else {**message, "match": match}


def view_message(
    table_id: str, number: int, game: TableGame, seat: int, *, turn: bool, seconds: float | None
) -> Send:
    """Everything that a seat may know, as it is its turn, or the game begins or goes on."""
    message = {
        "type": "turn" if turn else "view",
        "table": table_id,
        "number": number,
        "view": seat_view(game, seat),
        "seconds": seconds,
    }
    return Send(seat, message)


def played_message(table_id: str, stage: int, seat: int, card: int, by: By) -> Send:
    message = {"type": "played", "table": table_id, "stage": stage, "seat": seat}
    return Send(None, {**message, "card": CARD_NAMES[card], "by": by}, essential=False)


def trick_end_message(table_id: str, game: TableGame) -> Send:
    message = {
        "type": "trick_end",
        "table": table_id,
        "number": game.stage // NUM_SEATS - 1,
        "trick": last_trick_json(game),
        "scores": game.scores(),
    }
    return Send(None, message, essential=False)


def game_end_message(
    table_id: str, game_id: int, game: TableGame, totals: list[int], *, show_hands: bool
) -> Send:
    """The end of a game. The hands of a match stay hidden until the match is over."""
    message: dict[str, Any] = {
        "type": "game_end",
        "table": table_id,
        "game": game_id,
        "scores": game.scores(),
        "totals": totals,
        "plays": names(game.plays),
        "leader": game.leader,
        "last_trick": last_trick_json(game),
    }
    if show_hands:
        message["hands"] = [
            names(card for card in range(NUM_CARDS) if game.dealt[card] == seat)
            for seat in range(NUM_SEATS)
        ]
    return Send(None, message)
