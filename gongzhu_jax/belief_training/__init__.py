"""Training of the belief: games of a mixture of players, whose hidden hands are the labels."""

from gongzhu_jax.belief_training.config import BeliefTrainingConfig
from gongzhu_jax.belief_training.epoch import BeliefState, compile_epoch, init_state
from gongzhu_jax.belief_training.learner import compile_learn, nll, random_stages
from gongzhu_jax.belief_training.mixture import play_mixture

__all__ = [
    "BeliefState",
    "BeliefTrainingConfig",
    "compile_epoch",
    "compile_learn",
    "init_state",
    "nll",
    "play_mixture",
    "random_stages",
]
