"""How strong players are: duplicate matches, round robins and their statistics (section 4 and the
supplement of the paper)."""

from gongzhu_jax.evaluation.deals import Deals, random_deals
from gongzhu_jax.evaluation.games import FinishedGames, play_games
from gongzhu_jax.evaluation.matches import MatchResult, play_match
from gongzhu_jax.evaluation.seatings import Seating, SeatingResult
from gongzhu_jax.evaluation.stats import (
    Estimate,
    estimate,
    intransitivity,
    intransitivity_floor,
    intransitivity_sd,
    paired_difference,
)

__all__ = [
    "Deals",
    "Estimate",
    "FinishedGames",
    "MatchResult",
    "Seating",
    "SeatingResult",
    "estimate",
    "intransitivity",
    "intransitivity_floor",
    "intransitivity_sd",
    "paired_difference",
    "play_games",
    "play_match",
    "random_deals",
]
