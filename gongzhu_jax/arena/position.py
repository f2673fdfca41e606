"""What a seat knows at its turn, in plain types: all that one of our players is given."""

from dataclasses import dataclass

from gongzhu_jax.arena.table_game import TableGame
from gongzhu_jax.game import PublicView, make_view


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


WARM_UP = Position(seat=0, hand=tuple(range(0, 52, 4)), leader=0, plays=())
"""A position to compile with and to fill batches up with: the first lead, as good as any."""
