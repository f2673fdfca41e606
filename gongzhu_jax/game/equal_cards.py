"""Cards of a hand between which there is nothing to choose.

Two cards of one suit and of equal points are equal if nobody else can ever play a card between
them: every card between is in the same hand, or went with an earlier trick.
"""

import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax.game.cards import SUIT, TRANSFORMER, running_count
from gongzhu_jax.game.public_view import PublicView, legal_mask
from gongzhu_jax.game.scoring import PLAIN_POINTS


def _alike() -> np.ndarray:
    """[52, 52] whether two cards are of one suit and worth the same, doubling included."""
    points = PLAIN_POINTS.copy()
    points[TRANSFORMER] = 1  # unlike those of all other clubs
    return (SUIT[:, None] == SUIT) & (points[:, None] == points)


_ALIKE = _alike()


def lowest_equal(view: PublicView) -> jax.Array:
    """Gives the lowest legal card that is equal to each legal card, itself if none is, int32[52];
    the entries of other cards mean nothing."""
    legal = legal_mask(view)
    barred = ~view.hand & (view.taken_by < 0)  # somebody else's, or on the table
    below = running_count(barred)
    equal = _ALIKE & (below[:, None] == below[None]) & legal[None]
    return jnp.argmax(equal, axis=1)
