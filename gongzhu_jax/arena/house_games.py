"""Games that our players play among themselves, away from the tables."""

from collections.abc import Sequence

from gongzhu_jax.arena.deals import Deal
from gongzhu_jax.arena.own_players import OwnPlayers
from gongzhu_jax.arena.position import position
from gongzhu_jax.arena.table_game import TableGame


async def play_deal(own: OwnPlayers, seats: Sequence[str], deal: Deal) -> TableGame:
    """The finished game of four of our players on a deal. Many at once share their batches."""
    game = TableGame(deal.owners, deal.leader)
    while not game.is_over:
        legal = game.legal()
        card = legal[0]
        if len(legal) > 1:
            card = await own.act(seats[game.mover], deal.key, position(game))
        game.play(card)
    return game
