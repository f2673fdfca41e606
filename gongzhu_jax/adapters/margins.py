"""Rewards of the environments: the margin of a seat's team, in points."""

from gongzhu_jax.game.cards import NUM_SEATS
from gongzhu_jax.game.scoring import ALL_HEARTS, PLAIN_POINTS

MAX_MARGIN = int(2 * (ALL_HEARTS + PLAIN_POINTS.max()) - PLAIN_POINTS.min())
"""All hearts, sheep and transformer at one seat, the pig with the other team."""

SIGNS = tuple(1 if seat % 2 == 0 else -1 for seat in range(NUM_SEATS))
"""The sign of the margin of seats 0 and 2 in the eyes of each seat."""
