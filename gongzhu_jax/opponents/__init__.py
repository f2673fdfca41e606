"""What we learned beyond the paper: who holds what (the belief), and who plays how (the opponent
model and the distilled policy).

Importing the package registers its proposal, its weighting rule, its rollouts, its prior and its
networks.
"""

from gongzhu_jax.opponents import (
    card_belief,
    distilled_policy,
    odds,
    opponent_model,
    play_features,
    rollouts,
)

__all__ = [
    "card_belief",
    "distilled_policy",
    "odds",
    "opponent_model",
    "play_features",
    "rollouts",
]
