"""What we learned beyond the paper: who holds what (the belief), who plays how (the opponent
model), and which of many weighed scenarios are worth a search.

Importing the package registers its proposal, its weighting rule and its networks.
"""

from gongzhu_jax.opponents import card_belief, odds, opponent_model, play_features, selection

__all__ = ["card_belief", "odds", "opponent_model", "play_features", "selection"]
