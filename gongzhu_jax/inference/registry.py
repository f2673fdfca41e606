"""Proposals, which draw scenarios, weighting rules, which judge them, rollouts and priors, by name.

This package registers the paper's; `gongzhu_jax.opponents` registers those that need a network of
its own. Axes: B decisions, N scenarios each.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import jax

from gongzhu_jax.game.cards import NUM_TRICKS
from gongzhu_jax.game.env import GameState
from gongzhu_jax.game.public_view import PublicView
from gongzhu_jax.inference.constraints import Constraints
from gongzhu_jax.network.policy_value import Network

if TYPE_CHECKING:
    from gongzhu_jax.inference.config import InferenceConfig, InferenceParams
    from gongzhu_jax.inference.scenarios import Scenarios

DealTable = Any
"""All deals under some constraints, in the form from which a proposal draws."""


class Proposal(Protocol):
    """A distribution over the deals that agree with a view, from which scenarios are drawn."""

    def log_odds(self, params: "InferenceParams", views: PublicView) -> jax.Array | None:
        """What the distributions of B decisions depend on beside the constraints, or None."""
        ...

    def table(self, known: Constraints, log_odds: jax.Array | None) -> DealTable:
        """The distribution under `known` for the `log_odds` of one decision."""
        ...

    def draw(self, key: jax.Array, table: DealTable, n: int) -> tuple[jax.Array, jax.Array]:
        """The opponent who gets each card in `n` independent deals, int8[n, 52], and the log
        probability of each deal, [n]; not a finite number if there is no deal at all."""
        ...

    def log_density(self, log_odds: jax.Array | None, opponent: jax.Array) -> jax.Array:
        """The log probability of deals [..., 52] up to a constant of the decision."""
        ...


PlayerTypes = jax.Array
"""[..., 4, player_types] float32, log probabilities of the types of all seats, up to a constant"""


class LogWeights(NamedTuple):
    """What a rule says of scenarios, and what it cost."""

    log_weight: jax.Array  # [B, N] float32, up to a constant of the decision
    demanded: jax.Array | int = 0  # evaluations of the playing network that the rule asks for
    evaluated: jax.Array | int = 0  # evaluations made, with the padding of batches
    types: PlayerTypes | None = None  # [B, N], of a rule that tells types of players apart


class WeightingRule(Protocol):
    """How likely the history is in each scenario."""

    def __call__(
        self,
        params: "InferenceParams",
        views: PublicView,
        scenarios: "Scenarios",
        active: jax.Array,
        network: Network,
        config: "InferenceConfig",
    ) -> LogWeights:
        """The log weights of the scenarios of B decisions.

        Args:
          active: bool[B, N]; what is said of other scenarios is not read.
        """
        ...


class FinishFn(Protocol):
    """How play goes on in given deals, before the network is asked what the position is worth."""

    def __call__(
        self,
        params: Any,
        states: GameState,
        types: PlayerTypes,
        noise: jax.Array,
        config: Any,
        last_tricks: int,
    ) -> GameState:
        """The states [S] at the end of the rollout, by the parameters and the configuration of the
        opponent model.

        Args:
          types: float32[S, 4, player_types].
          noise: float32[S, tricks, 52], standard Gumbel numbers.
          last_tricks: a rollout goes on to the end of the game where at most so many tricks are
            left when that under way is over.
        """
        ...


@dataclass(frozen=True)
class Rollout:
    """A way to play on, and how many tricks at the end of the game it always plays."""

    finish: FinishFn
    last_tricks: int


def most_tricks(last_tricks: int) -> int:
    """How many tricks a rollout can have that always plays so many at the end of the game."""
    return min(last_tricks + 1, NUM_TRICKS)


class Prior(Protocol):
    """What is thought of the cards before any scenario is looked at."""

    def __call__(self, params: "InferenceParams", views: PublicView) -> jax.Array:
        """Q of all cards for views [B], float32[B, 52], up to a constant of each decision."""
        ...


PROPOSALS: dict[str, Proposal] = {}
RULES: dict[str, WeightingRule] = {}
ROLLOUTS: dict[str, Rollout] = {}
PRIORS: dict[str, Prior] = {}
