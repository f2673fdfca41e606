"""Training on games of a mixture of players: of the belief, whose labels are the hidden hands, and
of habits, whose labels are the cards played."""

from gongzhu_jax.belief_training.config import BeliefTrainingConfig, MixtureNetwork
from gongzhu_jax.belief_training.epoch import BeliefState, compile_epoch, init_state
from gongzhu_jax.belief_training.learner import compile_learn
from gongzhu_jax.belief_training.losses import nll, nll_of_strangers, random_stages
from gongzhu_jax.belief_training.mixture import Tables, play_mixture

__all__ = [
    "BeliefState",
    "BeliefTrainingConfig",
    "MixtureNetwork",
    "Tables",
    "compile_epoch",
    "compile_learn",
    "init_state",
    "nll",
    "nll_of_strangers",
    "play_mixture",
    "random_stages",
]
