"""The same deal played by our players: what a person's result is measured against."""

from collections.abc import Sequence
from typing import Any

from gongzhu_jax.arena.deals import Deal
from gongzhu_jax.arena.house_games import play_deal
from gongzhu_jax.arena.own_players import OwnPlayers
from gongzhu_jax.arena.seat_view import names
from gongzhu_jax.game.cards import NUM_SEATS


async def play_again(own: OwnPlayers, players: Sequence[str], deal: Deal) -> dict[str, Any]:
    """A whole game of four of our players; each is given only what its seat knows."""
    game = await play_deal(own, players, deal)
    return {"players": list(players), "scores": game.scores(), "plays": names(game.plays)}


def margin(scores: Sequence[int], seat: int) -> int:
    """Points of the team of `seat` minus those of the other team."""
    ours = sum(scores[other] for other in range(seat % 2, NUM_SEATS, 2))
    return 2 * ours - sum(scores)
