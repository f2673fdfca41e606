"""Trains the critic: `python -m experiments.train_critic directory=runs/critic`.

The critic is the network that plays, whose values are learnt anew from games of players who do not
see each other's hands: what a position is worth if everybody goes on playing honestly. One player
of the mixture, labelled @self, plays with the values learnt so far. At intervals the log has `wpg`,
its points over Mr. Greed on development deals. Stops cleanly and goes on as `experiments.train`
does.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from experiments.common.cli import DONE, command
from experiments.common.mixture import MixtureSettings, run_training, so_far
from gongzhu_jax import players
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation import play_match
from gongzhu_jax.evaluation.deal_sets import choose_deals
from gongzhu_jax.mixture_training.config import SELF
from gongzhu_jax.network.policy_value import NetworkConfig, Params
from gongzhu_jax.network.weights import POLICY_VALUE, load_weights
from gongzhu_jax.players.scrofazero import from_network
from gongzhu_jax.training.loop import EvaluateFn


@dataclass(frozen=True, kw_only=True)
class TrainCriticSettings(MixtureSettings):
    network: NetworkConfig = field(default_factory=NetworkConfig)
    kept_policy: str | None  # weights whose policy is kept; null: the shipped ones
    evaluate_deals: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.evaluate_deals < 0:
            raise ConfigError("evaluate_deals must be 0 (no evaluation) or more")


def make_evaluate(settings: TrainCriticSettings) -> EvaluateFn:
    """Points over Mr. Greed of the player that learns, on the development deals."""
    deals = choose_deals("development-1", settings.evaluate_deals).deals
    label = next(name for name in settings.player_types if name.endswith(SELF))
    options = settings.options.get(label, {})
    greed = players.make("greed")

    def evaluate(params: Params, epoch: int) -> Mapping[str, float]:
        player = from_network(label.removesuffix(SELF), settings.network, params, **options)
        result = play_match(player, greed, deals, seed=settings.training["seed"])
        return {"wpg": result.mean, "wpg_stderr": result.standard_error}

    return evaluate


def train(settings: TrainCriticSettings, line: str) -> None:
    _, start = load_weights(None)
    run_training(
        settings,
        settings.network,
        POLICY_VALUE,
        line,
        start_params=start,
        kept_policy=load_weights(settings.kept_policy)[1],
        evaluate=make_evaluate(settings) if settings.evaluate_deals else None,
        score="wpg",
        summary=_summary,
    )


@command("train_critic", TrainCriticSettings)
def main(settings: TrainCriticSettings, line: str) -> int:
    train(settings, line)
    return DONE


def _summary(row: Mapping[str, Any]) -> str:
    return f"{so_far(row)}  over Mr. Greed {row['wpg']:.1f} +- {row['wpg_stderr']:.1f}"


if __name__ == "__main__":
    sys.exit(main())
