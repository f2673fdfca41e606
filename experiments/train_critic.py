"""Trains the critic: `python -m experiments.train_critic directory=runs/critic`.

The critic is the network that plays, whose values are learnt anew from games of players who do not
see each other's hands: what a position is worth if everybody goes on playing honestly. One player
of the mixture, labelled @self, plays with the values learnt so far. At intervals the log has `wpg`,
its points over Mr. Greed on development deals. Stops cleanly and goes on as `experiments.train`
does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from experiments.common.cli import command
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


def over_greed(make: Callable[[Params], players.Player], deals: int, seed: int) -> EvaluateFn:
    """Points over Mr. Greed of the player made of the parameters, on development deals."""
    chosen, greed = choose_deals("development-1", deals).deals, players.make("greed")

    def evaluate(params: Params, epoch: int) -> Mapping[str, float]:
        result = play_match(make(params), greed, chosen, seed=seed)
        return {"wpg": result.mean, "wpg_stderr": result.standard_error}

    return evaluate


def train(settings: TrainCriticSettings, line: str) -> None:
    label = next((name for name in settings.player_types if name.endswith(SELF)), SELF)
    options = settings.options.get(label, {})

    def learner(params: Params) -> players.Player:
        return from_network(label.removesuffix(SELF), settings.network, params, **options)

    deals, seed = settings.evaluate_deals, settings.training["seed"]
    run_training(
        settings,
        settings.network,
        POLICY_VALUE,
        line,
        start_params=load_weights(None)[1],
        kept_policy=load_weights(settings.kept_policy)[1],
        evaluate=over_greed(learner, deals, seed) if deals else None,
        score="wpg",
        summary=_summary,
    )


def _summary(row: Mapping[str, Any]) -> str:
    return f"{so_far(row)}  over Mr. Greed {row['wpg']:.1f} +- {row['wpg_stderr']:.1f}"


main = command("train_critic", TrainCriticSettings)(train)

if __name__ == "__main__":
    raise SystemExit(main())
