"""Is the belief any good? How likely the true hands are under each weighting, by stage.

    python -m experiments.belief_quality options.checkpoint=runs/train games=256

In games of the `scrofa` player against itself, at every decision with a choice, scenarios are drawn
uniformly and weighted in each way. The result has `rows`, one for each weighting and each quarter
of the game: log_likelihood of the true holder of an unseen card (mean over cards, in nats, of the
probability that the weighted scenarios give it, floored at half a scenario), gain over equal
weights with its standard error over games, and the effective sample size as a share.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.cli import command, finish
from experiments.positions import final_states
from experiments.progress import progress
from experiments.results import print_table
from experiments.settings import PlaySettings
from gongzhu_jax import players
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation import estimate
from gongzhu_jax.game import env
from gongzhu_jax.game.view import legal_mask, unseen_mask, view
from gongzhu_jax.inference.config import ScenarioConfig, WeightConfig
from gongzhu_jax.inference.decision import effective_sample_size, normalise
from gongzhu_jax.inference.explanation import believed_holders
from gongzhu_jax.inference.likelihood import log_weights
from gongzhu_jax.inference.scenarios import draw_scenarios
from gongzhu_jax.network.registry import make as make_network
from gongzhu_jax.network.weights import load_weights

WEIGHTINGS: Mapping[str, WeightConfig] = {
    "equal": WeightConfig(weights="none"),
    "iec 0.015": WeightConfig(beta=0.015),
    "iec 0.1": WeightConfig(beta=0.1),
    "iec 0.1, every slice": WeightConfig(beta=0.1, slices="every"),
    "bayes 0.05, every slice": WeightConfig(weights="bayes", beta=0.05, slices="every"),
    "bayes 0.1, every slice": WeightConfig(weights="bayes", beta=0.1, slices="every"),
}
QUARTERS = ("tricks 1-3", "tricks 4-6", "tricks 7-9", "tricks 10-13")


@dataclass(frozen=True, kw_only=True)
class BeliefSettings(PlaySettings):
    scenarios: int
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scenarios < 2:
            raise ConfigError("scenarios must be at least 2")


def measure(settings: BeliefSettings) -> list[dict[str, Any]]:
    """One row for each weighting and quarter of the game."""
    network_config, params = load_weights(settings.options.get("checkpoint"))
    network = make_network(network_config)
    finals = final_states(players.make("scrofa", **settings.options), settings)
    draw = ScenarioConfig(sampler="uniform", draws=settings.scenarios)

    def at_stage(key, stage):
        """[weighting, game]: log likelihood, effective share; and whether there was a choice."""
        states = jax.vmap(env.rewind, (0, None))(finals, stage)
        views = jax.vmap(lambda s: view(s, env.player_to_move(s)))(states)
        keys = jax.random.split(key, len(states.stage))
        scenarios = jax.vmap(draw_scenarios, (0, 0, None))(keys, views, draw)
        likelihood, share = [], []
        for config in WEIGHTINGS.values():
            logs, _, _ = log_weights(
                params, views, scenarios.holder, jnp.float32(config.beta), network, config
            )
            weight = normalise(scenarios.log_weight + logs)
            likelihood.append(jax.vmap(_true_holders)(views, scenarios.holder, weight, states))
            share.append(effective_sample_size(weight) / settings.scenarios)
        choice = jnp.sum(jax.vmap(legal_mask)(views), axis=1) > 1
        return jnp.stack(likelihood), jnp.stack(share), choice

    compiled = jax.jit(at_stage)
    found = []
    with progress("stages") as advance:
        for stage in range(1, 48):
            key = jax.random.fold_in(jax.random.key(settings.seed), stage)
            found.append(jax.tree.map(np.asarray, compiled(key, jnp.int8(stage))))
            advance(stage, 47)
    return _rows(*(np.stack(parts) for parts in zip(*found, strict=True)))


def _true_holders(view, holder, weight, state) -> jax.Array:
    """Mean log probability of the true holders of the unseen cards."""
    unseen = unseen_mask(view)
    believed = believed_holders(holder, weight)  # [52, 4]
    truth = state.holder[:, None] == np.arange(4, dtype=np.int8)
    probability = jnp.sum(jnp.where(truth, believed, 0.0), axis=1)
    floor = 0.5 / holder.shape[0]  # no scenario had it: less than one of them
    log = jnp.log(jnp.maximum(probability, floor))
    return jnp.sum(jnp.where(unseen, log, 0.0)) / jnp.maximum(jnp.sum(unseen), 1)


def _rows(likelihood: np.ndarray, share: np.ndarray, choice: np.ndarray) -> list[dict[str, Any]]:
    """From [stage, weighting, game] twice and [stage, game]; stages from 1 on."""
    rows = []
    trick = np.arange(1, 1 + len(choice)) // 4
    for quarter, name in enumerate(QUARTERS):
        here = np.minimum(trick // 3, 3) == quarter
        by_game = _mean_by_game(likelihood[here], choice[here])  # [weighting, game]
        shares = _mean_by_game(share[here], choice[here]).mean(axis=1)
        for index, weighting in enumerate(WEIGHTINGS):
            gain = estimate(by_game[index] - by_game[0])  # the first has equal weights
            rows.append(
                {
                    "stage": name,
                    "weights": weighting,
                    "log_likelihood": float(by_game[index].mean()),
                    "gain": gain.mean,
                    "gain_standard_error": gain.standard_error,
                    "effective_share": float(shares[index]),
                }
            )
    return rows


def _mean_by_game(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """[weighting, game]: mean over the stages that count, of the games that have any."""
    games = counted.any(axis=0)
    sums = (values * counted[:, None, :]).sum(axis=0)
    return (sums / np.maximum(counted.sum(axis=0), 1))[:, games]


@command("belief_quality", BeliefSettings)
def main(settings: BeliefSettings, line: str) -> int:
    rows = measure(settings)
    print_table("log-likelihood of the true holders", rows)
    return finish("belief_quality", {"rows": rows, "interrupted": False}, settings, line)


if __name__ == "__main__":
    sys.exit(main())
