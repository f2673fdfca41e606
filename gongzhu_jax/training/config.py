"""Settings of self-play and learning.

Defaults are the paper's; where it is silent they are the original program's, which
docs/deviations.md lists.
"""

import math
from dataclasses import dataclass, field

from gongzhu_jax.errors import ConfigError, check_choice
from gongzhu_jax.network.policy_value import NetworkConfig
from gongzhu_jax.search.config import SearchConfig


@dataclass(frozen=True)
class SelfPlayConfig:
    """How the games are played from which the network learns."""

    games: int = 64  # games per epoch, all in lock step
    random_play: float = 0.0  # probability of a uniformly random legal card
    # Deals of the hidden cards over which a seat averages its search; 0: it sees all hands (paper).
    scenarios: int = 0
    td_lambda: float = 0.0  # weight of later values and the outcome; 0: the search alone (paper)
    # A played card whose Q is more than this many points below the best says nothing about the
    # value of the position before it, so the trace of later values is cut there.
    blunder: float = 8.0

    def __post_init__(self) -> None:
        if self.games < 1:
            raise ConfigError("games per epoch must be at least 1")
        if self.scenarios < 0:
            raise ConfigError("scenarios of self-play must be 0 (all hands are seen) or more")
        if not (0 <= self.random_play <= 1 and 0 <= self.td_lambda <= 1 and self.blunder >= 0):
            raise ConfigError("random_play and td_lambda lie in 0..1 and blunder is not negative")


@dataclass(frozen=True)
class LearnerConfig:
    """How the network learns from them."""

    review: int = 3  # epochs of games learnt from at a time: the new one and the ones before
    passes: int = 3  # passes over these games per epoch
    minibatch: int = 64  # positions per update
    learning_rate: float = 1e-3  # learning rate of Adam at the start
    final_learning_rate: float = 1e-3  # learning rate at the last epoch, reached by cosine decay
    adam_b1: float = 0.3  # decay of the mean of gradients
    adam_b2: float = 0.999  # decay of the mean of squared gradients
    adam_eps: float = 1e-7  # added to the root of that mean
    weight_decay: float = 1e-4  # weight decay, as an L2 term of the gradient
    value_loss: str = "absolute"  # "absolute" (paper) or "rmse" of the minibatch (original runs)
    value_weight: float = 0.03  # lambda of the loss: the weight of the value error
    mask: str = "before"  # illegal cards are masked "before" (paper) or "after" the softmax
    average: float = 0.0  # decay per update of the averaged parameters that play; 0: none kept

    def __post_init__(self) -> None:
        if min(self.review, self.passes, self.minibatch) < 1:
            raise ConfigError("review, passes and minibatch must be at least 1")
        if not 0 < self.final_learning_rate <= self.learning_rate:
            raise ConfigError("learning rates must satisfy 0 < final <= first")
        check_choice("value_loss", self.value_loss, ("absolute", "rmse"))
        check_choice("mask", self.mask, ("before", "after"))
        weights = (self.value_weight, self.weight_decay)
        if not 0 <= self.average < 1 or not all(0 <= weight < math.inf for weight in weights):
            raise ConfigError("average lies in 0..1; value_weight and weight_decay from 0 on")
        if not 0 < self.adam_eps < math.inf or not all(
            0 <= decay < 1 for decay in (self.adam_b1, self.adam_b2)
        ):
            raise ConfigError("adam_b1 and adam_b2 lie in 0..1 and adam_eps is above 0")


@dataclass(frozen=True)
class TrainingConfig:
    """A whole run; everything that its result depends on."""

    epochs: int = 4160
    seed: int = 0
    network: NetworkConfig = field(default_factory=lambda: NetworkConfig("fc24"))
    search: SearchConfig = field(default_factory=lambda: SearchConfig(search_forced=True))
    selfplay: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    start: str | None = None  # digest of the parameters it starts from; None: random ones

    def __post_init__(self) -> None:
        if self.epochs < 1:
            raise ConfigError("a run needs at least 1 epoch")
        if self.search.rollout != "none":
            raise ConfigError("self-play has no opponent model, so search.rollout must be none")
        if self.search.merge_equal:
            raise ConfigError("self-play learns from every card: search.merge_equal must be false")
        if self.positions_per_epoch % self.learner.minibatch:
            raise ConfigError(
                f"{self.selfplay.games} games x 52 positions do not divide into minibatches "
                f"of {self.learner.minibatch}"
            )

    @property
    def positions_per_epoch(self) -> int:
        return self.selfplay.games * 52

    @property
    def updates_per_epoch(self) -> int:
        """Once the window of `review` epochs is full."""
        learner = self.learner
        return self.positions_per_epoch * learner.review * learner.passes // learner.minibatch

    @property
    def total_updates(self) -> int:
        filling = min(self.learner.review, self.epochs)
        per_batch = self.updates_per_epoch // self.learner.review
        # The window grows by one epoch at a time until it is full.
        return per_batch * (
            filling * (filling + 1) // 2 + (self.epochs - filling) * self.learner.review
        )
