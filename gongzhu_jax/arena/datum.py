"""The datum of a deal: what it is worth to the seats it was dealt to, by the play of a reference.

In duplicate bridge each hand is played again by others. A program must not get a deal twice:
whoever has played a deal has seen all its cards, so a program that remembers would know every hand
the second time, however much later that is. So each deal of a match is played once by the two
players, and four times by four of our reference player. What the latter score on the mean is
luck of the deal, and half of it is taken off the result. Over all deals the datum is zero on the
mean, since no seat is better than another, so the share changes the error and not the mean.
"""

from collections.abc import Sequence

import numpy as np

from gongzhu_jax import players
from gongzhu_jax.arena.deals import Deal
from gongzhu_jax.evaluation.deals import Deals
from gongzhu_jax.evaluation.seatings import Seating
from gongzhu_jax.game.cards import NUM_SEATS

REFERENCE = "greed"
DATUM_GAMES = 4
DATUM_SHARE = 0.5
_BATCH = 64


def datum(deals: Sequence[Deal]) -> np.ndarray:
    """Mean points of seats 0 and 2 over seats 1 and 3 in the games of the reference, [deals]."""
    owners = np.array([deal.owners for deal in deals], np.int8)
    leaders = np.array([deal.leader for deal in deals], np.int8)
    count = len(deals) * DATUM_GAMES
    played = Seating((players.make(REFERENCE),) * NUM_SEATS, rotations=1, batch=_BATCH).play(
        Deals(
            owners=np.repeat(owners, DATUM_GAMES, axis=0),
            leaders=np.repeat(leaders, DATUM_GAMES),
            numbers=np.arange(count, dtype=np.int32),  # so each game has choices of its own
        )
    )
    points = played.points.reshape(len(deals), DATUM_GAMES, NUM_SEATS)
    return (points[..., 0::2].sum(-1) - points[..., 1::2].sum(-1)).mean(-1)
