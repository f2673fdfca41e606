"""Games per second of players who do not see each other's hands, from which the critic learns, and
their share of the bound.

The bound is the time that the evaluations of the playing network take at the best rate of the
network alone: each legal card once in each scenario, where there is a choice. The belief, which
draws the scenarios, the game and idle places in batches are overhead. Weights are the shipped ones.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from experiments.common.cli import changed_settings
from experiments.speed.rates import in_turns, network_alone
from experiments.speed.training import BATCHES
from experiments.train_critic import TrainCriticSettings
from gongzhu_jax import network, runtime
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_CARDS
from gongzhu_jax.mixture_training import play_mixture
from gongzhu_jax.mixture_training.config import SELF
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.players.labels import make_labelled


def run(
    games: int = 1024,
    options: Mapping[str, Any] | None = None,
    batches: Sequence[int] = BATCHES,
    rounds: int = 3,
    seconds: float = 1.0,
    seed: int = 0,
) -> dict[str, Any]:
    """One row: the player that learns in `train_critic` at all four seats, `games` at once;
    `options` are further ones of that player."""
    settings: TrainCriticSettings = changed_settings("train_critic", {})
    label = next(name for name in settings.player_types if name.endswith(SELF))
    own = {**settings.options[label], **(options or {})}
    player, mesh = make_labelled(label, {label: own}), runtime.games_mesh()
    random_play = settings.config().random_play

    def play() -> env.GameState:
        return play_mixture((seed, 0), games, [player], [1.0], mesh, random_play=random_play).states

    scenarios = player.config.scenarios.draws
    demanded = scenarios * float(_choices(play())) / games
    net = network.make(settings.network)
    params = jax.device_put(load_weights(None)[1], runtime.on_all(mesh))
    alone = [network_alone(net, params, mesh, size) for size in batches]
    *speeds, played = in_turns([*alone, (play, games)], rounds, seconds)
    best = max(speeds)
    row = {
        "training": "critic",
        "network_per_second": best,
        "network_batch": batches[speeds.index(best)],
        "evaluations_per_game": demanded,
        "bound_games_per_second": best / demanded,
        "games_per_second": played,
        "share_of_bound": played * demanded / best,
    }
    return {"rows": [row], "devices": mesh.size}


@jax.jit
def _choices(finished: env.GameState) -> jax.Array:
    """The number of legal cards in all states with a choice of games [G]."""

    def of_game(game: env.GameState) -> jax.Array:
        path = jax.vmap(env.rewind, (None, 0))(game, jnp.arange(NUM_CARDS, dtype=jnp.int8))
        legal = jnp.sum(jax.vmap(env.legal_mask)(path), axis=1)
        return jnp.sum(jnp.where(legal > 1, legal, 0))

    return jnp.sum(jax.vmap(of_game)(finished))
