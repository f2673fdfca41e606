"""Training on games of a mixture of players: of the belief, whose labels are the hidden hands; of
the opponent model, whose labels are the cards played; of the distilled policy, whose labels are the
averaged Q of players that search; and of the critic, whose labels are the outcomes."""

from gongzhu_jax.mixture_training.config import MixtureNetwork, MixtureTrainingConfig
from gongzhu_jax.mixture_training.epoch import MixtureState, compile_epoch, init_state
from gongzhu_jax.mixture_training.learner import compile_learn
from gongzhu_jax.mixture_training.losses import held_out_nll, nll, random_stages
from gongzhu_jax.mixture_training.mixture import MixtureGames, play_mixture

__all__ = [
    "MixtureGames",
    "MixtureNetwork",
    "MixtureState",
    "MixtureTrainingConfig",
    "compile_epoch",
    "compile_learn",
    "held_out_nll",
    "init_state",
    "nll",
    "play_mixture",
    "random_stages",
]
