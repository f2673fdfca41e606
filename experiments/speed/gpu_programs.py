"""The programs that `experiments.compile_check` compiles, at the sizes of a device profile."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from experiments.common.cli import load_settings
from experiments.speed.inference import compile_decisions, views_with_choice
from experiments.speed.search import compile_search
from experiments.train import load_preset
from experiments.train_belief import TrainBeliefSettings
from gongzhu_jax import network, players, runtime
from gongzhu_jax.device_profile import CPU, DeviceProfile
from gongzhu_jax.game.cards import NUM_CARDS, NUM_SEATS
from gongzhu_jax.game.random_play import random_position
from gongzhu_jax.mixture_training import compile_learn
from gongzhu_jax.mixture_training import init_state as init_mixture
from gongzhu_jax.search import SearchConfig, budgets_of
from gongzhu_jax.training.epoch import compile_epoch, state_shapes

TREE_DEPTH = 4.0
"""Nodes on the longest way down the trees of a batch, assumed."""


@dataclass(frozen=True)
class Work:
    """A program and what one run of it does on all devices."""

    lowered: Any
    # Turns of the loops that do not say how often they run, in the order of `hlo.Program.loops`.
    turns: list[float]
    evaluations: float  # of the network that plays
    per_turn: float  # evaluations in one turn of the loop with the most products, on one device
    games: float | None = None
    what: str = ""


def _shapes(tree: Any, sharding: Any) -> Any:
    return jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct(jnp.shape(leaf), leaf.dtype, sharding=sharding), tree
    )


@functools.cache
def _random_states(count: int = 2048) -> Any:
    return jax.jit(jax.vmap(random_position))(jax.random.split(jax.random.key(0), count))


def mean_budget(config: SearchConfig) -> float:
    """Simulations for a position of a random game."""
    return float(np.mean(budgets_of(_random_states(), config)))


def epoch(mesh: Mesh, sizes: DeviceProfile) -> Work:
    """Self-play and learning, by the preset for these sizes."""
    preset = "compact" if sizes == CPU else "gpu" if mesh.size == 1 else "gpu8"
    config = load_preset(preset)
    games = config.selfplay.games
    evaluations = games * NUM_CARDS * mean_budget(config.search)
    # The last chunk of a stage is half full on the mean.
    chunks = evaluations / mesh.size / NUM_CARDS / sizes.selfplay_states + 0.5
    lowered = compile_epoch(config, mesh).lower(state_shapes(config, mesh))
    turns = [chunks, config.updates_per_epoch]
    return Work(lowered, turns, evaluations, sizes.selfplay_states, games, f"preset={preset}")


def search(mesh: Mesh, sizes: DeviceProfile) -> Work:
    """The tree search of the paper's player: 10 + 2 x legal cards, of 32 batches of roots."""
    net, config = network.make(), SearchConfig(base=10)
    roots = 32 * sizes.states
    params = _shapes(jax.eval_shape(net.init, jax.random.key(0)), runtime.on_all(mesh))
    one = jax.tree.map(lambda leaf: leaf[0], _random_states())
    states = jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct(
            (roots * mesh.size, *leaf.shape), leaf.dtype, sharding=runtime.over_games(mesh)
        ),
        one,
    )
    budget = mean_budget(config)
    lowered = compile_search(net, config, mesh).lower(params, states)
    turns = [budget, TREE_DEPTH, TREE_DEPTH]
    return Work(lowered, turns, roots * mesh.size * budget, sizes.states, None, "10 + 2 x legal")


def decision(mesh: Mesh, sizes: DeviceProfile) -> Work:
    """Decisions of scrofa-strong."""
    player = players.make("scrofa-strong")
    count = sizes.decisions * mesh.size
    views = _shapes(views_with_choice(jax.random.key(0), count), runtime.over_games(mesh))
    keys = _shapes(jax.random.split(jax.random.key(0), count), runtime.over_games(mesh))
    params = _shapes(player.params, runtime.on_all(mesh))
    lowered = compile_decisions(player, mesh).lower(params, keys, views)
    evaluations = (
        sizes.decisions * player.config.scenarios.draws * mean_budget(player.config.search)
    )
    seen = float(np.mean(_random_states().stage)) * (NUM_SEATS - 1) / NUM_SEATS
    plays = sizes.decisions * seen
    turns = [plays / sizes.plays + 0.5, evaluations / sizes.states + 0.5]
    return Work(
        lowered, turns, evaluations * mesh.size, sizes.states, None, f"{sizes.decisions} decisions"
    )


def belief(mesh: Mesh, sizes: DeviceProfile) -> Work:
    """The updates of an epoch of the belief; its evaluations are positions learnt from."""
    settings = load_settings("train_belief", TrainBeliefSettings)
    config = settings.config(settings.network)
    state = jax.eval_shape(lambda: init_mixture(config, runtime.games_mesh()))
    learner, window = _shapes((state.learner, state.window), runtime.on_all(mesh))
    key = _shapes(jax.random.key(0), runtime.on_all(mesh))
    lowered = compile_learn(config, mesh).lower(learner, window, config.window, key)
    positions = config.updates * config.minibatch
    return Work(lowered, [], positions, config.minibatch / mesh.size, None, "positions learnt from")


PROGRAMS: dict[str, Callable[[Mesh, DeviceProfile], Work]] = {
    program.__name__: program for program in (epoch, search, decision, belief)
}
