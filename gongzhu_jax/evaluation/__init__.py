"""How strong players are: duplicate matches, round robins and their statistics (section 4 and the
supplement of the paper)."""

from gongzhu_jax.evaluation.deals import Deals, random_deals, standard_deals
from gongzhu_jax.evaluation.games import FinishedGames, play_games
from gongzhu_jax.evaluation.matches import MatchResult, play_match, wpg
from gongzhu_jax.evaluation.round_robin import RoundRobinResult, play_round_robin
from gongzhu_jax.evaluation.seatings import Seating, SeatingResult
from gongzhu_jax.evaluation.stats import (
    Estimate,
    estimate,
    intransitivity,
    intransitivity_sd,
    paired_difference,
)

__all__ = [
    "Deals",
    "Estimate",
    "FinishedGames",
    "MatchResult",
    "RoundRobinResult",
    "Seating",
    "SeatingResult",
    "estimate",
    "intransitivity",
    "intransitivity_sd",
    "paired_difference",
    "play_games",
    "play_match",
    "play_round_robin",
    "random_deals",
    "standard_deals",
    "wpg",
]
