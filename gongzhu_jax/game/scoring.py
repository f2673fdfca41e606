"""Points of the cards a player has taken (section 2 of the paper).

hearts        HA -50, HK -40, HQ -30, HJ -20, H10..H5 -10 each, H4 H3 H2 0
pig           SQ -100
sheep         DJ +100
transformer   C10 doubles all points of its taker; +50 if it is the only one of the 16 point cards
all hearts    all 13 hearts in one hand count +200 instead of -200, and are doubled too by C10
"""

import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax.game.cards import (
    HEARTS,
    NUM_CARDS,
    NUM_RANKS,
    PIG,
    POINT_CARDS,
    SEATS,
    SHEEP,
    SUIT,
    TRANSFORMER,
)

LONE_TRANSFORMER = 50
ALL_HEARTS = 200


def _plain_points() -> np.ndarray:
    points = np.zeros(NUM_CARDS, dtype=np.int32)
    points[SUIT == HEARTS] = [0, 0, 0, -10, -10, -10, -10, -10, -10, -20, -30, -40, -50]
    points[PIG] = -100
    points[SHEEP] = 100
    return points


PLAIN_POINTS = _plain_points()
"""[52] points of each card before doubling and all hearts; 0 for the transformer."""

MAX_MARGIN = int(2 * (ALL_HEARTS + PLAIN_POINTS.max()) - PLAIN_POINTS.min())
"""All hearts, sheep and transformer at one seat, the pig with the other team."""

_HEARTS_TOTAL = int(PLAIN_POINTS[SUIT == HEARTS].sum())
_IS_POINT_CARD = np.isin(np.arange(NUM_CARDS), POINT_CARDS)

# One product gives, for each seat, all that the rules ask of its cards: plain points, number of
# hearts, number of point cards, transformers. Small whole numbers, so float32 is exact.
_SUMMARY = np.stack(
    [PLAIN_POINTS, SUIT == HEARTS, _IS_POINT_CARD, np.arange(NUM_CARDS) == TRANSFORMER], axis=1
).astype(np.float32)


def score_cards(taken_by: jax.Array, *, lone_transformer: int = LONE_TRANSFORMER) -> jax.Array:
    """Points of each seat, int32[4], for `taken_by` int8[52]: who has taken each card, if anyone.

    `lone_transformer` is what C10 alone counts; a player that looks at unfinished games may set
    it to 0, since it will hardly stay alone.
    """
    seats = SEATS[:, None]
    held = (taken_by[None, :] == seats).astype(jnp.float32)
    summary = jnp.matmul(held, _SUMMARY, precision=jax.lax.Precision.HIGHEST).astype(jnp.int32)
    points, hearts, point_cards, transformer = (summary[:, i] for i in range(4))
    points = points + jnp.where(hearts == NUM_RANKS, ALL_HEARTS - _HEARTS_TOTAL, 0)
    alone = (transformer == 1) & (point_cards == 1)
    return jnp.where(alone, lone_transformer, points * (1 + transformer))
