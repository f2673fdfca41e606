"""Trains the distilled policy: `python -m experiments.train_distilled directory=runs/distilled`.

A player that searches plays at tables with itself, Mr. Greed and Mr. If, with some random plays,
and a network learns from its views the averaged Q of every legal card, the card played and who held
what. At intervals the log has `regret`, the points by the teacher's Q that the network's choice
gives away in held-out games, and `wpg`, its points over Mr. Greed on development deals. Stops
cleanly and goes on as `experiments.train` does.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

import jax
import numpy as np

from experiments.common.cli import command
from experiments.common.mixture import HELD_OUT_SEED, MixtureSettings, run_training
from experiments.common.settings import at_least
from experiments.train import over_greed
from gongzhu_jax import runtime
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.mixture_training import play_mixture, random_stages
from gongzhu_jax.mixture_training.distillation import distillation_figures
from gongzhu_jax.network.policy_value import Params
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.opponents import card_belief
from gongzhu_jax.opponents.distilled_policy import KIND, DistilledConfig, init_distilled
from gongzhu_jax.players import distilled
from gongzhu_jax.players.labels import make_labelled
from gongzhu_jax.training.loop import EvaluateFn

HELD_OUT_POSITIONS = 12
"""Positions of each held-out game at which the regret is measured."""


@dataclass(frozen=True, kw_only=True)
class TrainDistilledSettings(MixtureSettings):
    network: DistilledConfig = field(default_factory=DistilledConfig)
    belief: str | None  # weights of the belief that the network starts from; null: the shipped ones
    critic: str  # weights of the policy-value network that it starts from
    evaluate_deals: int = field(metadata=at_least(1))
    held_out_games: int = field(metadata=at_least(1))


def first_guess(settings: TrainDistilledSettings) -> Params:
    """Parameters of a distilled policy whose belief and policy-value network are trained."""
    network = settings.network
    parts = {
        "belief": (network.belief, load_weights(settings.belief, card_belief.KIND)),
        "policy_value": (network.policy_value, load_weights(settings.critic)),
    }
    fresh = init_distilled(jax.random.key(settings.training["seed"]), network)["params"]
    for name, (wanted, (config, params)) in parts.items():
        if config != wanted:
            raise ConfigError(f"the {name} is {config}, that of this network {wanted}")
        fresh[name] = params["params"]
    return {"params": fresh}


def make_evaluate(settings: TrainDistilledSettings) -> EvaluateFn:
    """Regret on held-out games, and points over Mr. Greed on the development deals."""
    types = settings.player_types
    made = [make_labelled(name, settings.options) for name in types]
    seed, count = settings.training["seed"], settings.held_out_games
    table = ((HELD_OUT_SEED, seed), count, made, list(types.values()), runtime.games_mesh())
    games = play_mixture(*table, settings.chunk, record_q=True)
    stages = random_stages(jax.random.key(0), count, HELD_OUT_POSITIONS)
    measure = jax.jit(lambda params: distillation_figures(params, games, stages, settings.network))
    player = functools.partial(distilled.from_network, settings.network)
    points = over_greed(player, settings.evaluate_deals, seed)

    def evaluate(params: Params, epoch: int) -> Mapping[str, float]:
        figures = jax.device_get(measure(params))
        decided = figures.decided.sum()
        return {
            **points(params, epoch),
            "regret": float(figures.regret.sum() / decided),
            "q_error": float(np.sqrt(figures.q_error.sum() / decided)),
            "play_nll": float(figures.play_nll.sum() / decided),
        }

    return evaluate


def train(settings: TrainDistilledSettings, line: str) -> None:
    run_training(
        settings,
        KIND,
        line,
        start_params=first_guess(settings),
        evaluate=make_evaluate(settings),
        score="wpg",
    )


main = command("train_distilled", TrainDistilledSettings)(train)

if __name__ == "__main__":
    raise SystemExit(main())
