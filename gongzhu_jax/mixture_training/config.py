"""Settings of a training on games of a mixture of players."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gongzhu_jax.errors import ConfigError, check_choice
from gongzhu_jax.network.policy_value import NetworkConfig
from gongzhu_jax.opponents.card_belief import BeliefConfig
from gongzhu_jax.opponents.distilled_policy import DistilledConfig
from gongzhu_jax.opponents.opponent_model import OpponentModelConfig

MixtureNetwork = BeliefConfig | OpponentModelConfig | DistilledConfig | NetworkConfig
"""What is learnt: who holds what, who plays how, what a search would say, or what a position is
worth (the critic)."""

SELF = "@self"
"""The label of the player of the mixture that plays with the parameters that are learnt."""


@dataclass(frozen=True, kw_only=True)
class MixtureTrainingConfig:
    """A whole run; everything that its result depends on, but for the players' weights. Each kind
    of network has its own values, which are in the files of the commands and nowhere else."""

    epochs: int
    seed: int = 0
    network: MixtureNetwork
    games: int  # new games per epoch
    window: int  # games kept to learn from
    updates: int  # steps of the optimiser per epoch
    minibatch: int  # positions per update
    positions: int  # positions of each game in a minibatch
    learning_rate: float
    final_learning_rate: float  # learning rate at the last epoch, reached by cosine decay
    average: float  # decay per update of the averaged parameters that are used
    mixture: Mapping[str, float]  # player to its share of the seats
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of those with any
    # "mixed": at half of the tables partners are of one player type, at the others every seat is
    # drawn for itself; "versus": the player that learns has one team, another one the other.
    seating: str = "mixed"
    random_play: float = 0.0  # probability that a decision is a uniformly random legal card
    td_lambda: float = 0.75  # of the critic: the weight of what happened later in the game
    start: str | None = None  # digest of the parameters it starts from; None: random ones

    def __post_init__(self) -> None:
        if min(self.epochs, self.games, self.updates, self.minibatch, self.positions) < 1:
            raise ConfigError("epochs, games, updates, minibatch and positions must be at least 1")
        if self.minibatch % self.positions:
            raise ConfigError("minibatch must be a multiple of the positions of each game")
        if self.window < self.games or self.window % self.games:
            raise ConfigError("window must be a multiple of the games per epoch")
        if not 0 < self.final_learning_rate <= self.learning_rate:
            raise ConfigError("learning rates must satisfy 0 < final <= first")
        if not 0 <= self.average < 1:
            raise ConfigError("average lies in 0..1")
        if not self.mixture or min(self.mixture.values()) <= 0:
            raise ConfigError("mixture needs players with positive shares")
        if not (0 <= self.random_play <= 1 and 0 <= self.td_lambda <= 1):
            raise ConfigError("random_play and td_lambda lie in 0..1")
        check_choice("seating", self.seating, ("mixed", "versus"))
        selves = [name for name in self.mixture if name.endswith(SELF)]
        if len(selves) != isinstance(self.network, NetworkConfig):
            raise ConfigError(
                f"the mixture of a critic, and of nothing else, has one player labelled {SELF}"
            )
        if self.seating == "versus" and (not selves or len(self.mixture) < 2):
            raise ConfigError(f"seating=versus needs a player labelled {SELF} and another one")
        network = self.network
        if isinstance(network, OpponentModelConfig) and network.player_types != len(self.mixture):
            raise ConfigError(
                f"an opponent model of {network.player_types} player types cannot be learnt from a "
                f"mixture of {len(self.mixture)}"
            )
