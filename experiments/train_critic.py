"""Trains the critic: `python -m experiments.train_critic directory=runs/critic`.

The critic is the network that plays, whose values are learnt anew from games of players who do not
see each other's hands: what a position is worth if everybody goes on playing honestly. One player
of the mixture, labelled @self, plays with the values learnt so far. At intervals the log has `wpg`,
its points over Mr. Greed on development deals. Stops cleanly and goes on as `experiments.train`
does.
"""

from dataclasses import dataclass, field

from experiments.common.cli import command
from experiments.common.mixture import MixtureSettings, run_training
from experiments.common.settings import at_least
from experiments.train import over_greed
from gongzhu_jax import players
from gongzhu_jax.mixture_training.config import SELF
from gongzhu_jax.network.policy_value import NetworkConfig, Params
from gongzhu_jax.network.weights import POLICY_VALUE, load_weights
from gongzhu_jax.players.scrofazero import from_network


@dataclass(frozen=True, kw_only=True)
class TrainCriticSettings(MixtureSettings):
    network: NetworkConfig = field(default_factory=NetworkConfig)
    kept_policy: str | None  # weights whose policy is kept; null: the shipped ones
    evaluate_deals: int = field(metadata=at_least(0))


def train(settings: TrainCriticSettings, line: str) -> None:
    label = next((name for name in settings.player_types if name.endswith(SELF)), SELF)
    options = settings.options.get(label, {})

    def learner(params: Params) -> players.Player:
        return from_network(label.removesuffix(SELF), settings.network, params, **options)

    deals, seed = settings.evaluate_deals, settings.training["seed"]
    run_training(
        settings,
        POLICY_VALUE,
        line,
        start_params=load_weights(None)[1],
        kept_policy=load_weights(settings.kept_policy)[1],
        evaluate=over_greed(learner, deals, seed) if deals else None,
        score="wpg",
    )


main = command("train_critic", TrainCriticSettings)(train)

if __name__ == "__main__":
    raise SystemExit(main())
