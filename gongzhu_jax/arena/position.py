"""What a seat knows at its turn, in plain types: all that one of our players is given."""

from dataclasses import dataclass

from gongzhu_jax.arena.table_game import TableGame
from gongzhu_jax.game import PublicView, make_view
from gongzhu_jax.game.cards import NUM_CARDS, NUM_RANKS, NUM_SEATS


@dataclass(frozen=True)
class Position:
    seat: int
    hand: tuple[int, ...]
    leader: int
    plays: tuple[int, ...]

    def view(self) -> PublicView:
        return make_view(self.seat, self.hand, self.leader, self.plays)


def position(game: TableGame) -> Position:
    """What the seat to move knows. From here on nothing else of the game is used."""
    seat = game.mover
    return Position(seat, tuple(sorted(game.hands[seat])), game.leader, tuple(game.plays))


def forced_position() -> Position:
    """A position without a choice, to compile with and to fill batches up with: our players spend
    least on it."""
    game = TableGame([card // NUM_RANKS for card in range(NUM_CARDS)], leader=0)
    while game.stage < NUM_CARDS - NUM_SEATS:
        game.play(game.legal()[0])
    return position(game)
