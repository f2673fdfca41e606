"""Games per second of self-play and of whole epochs, and their share of the bound.

The bound of self-play is the time that the evaluations which the budgets ask for take at the best
rate of the network alone; everything else, the game, the tree, idle simulations, is overhead.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
from jax.sharding import Mesh

from experiments.speed.rates import rate
from experiments.speed.search import alone_units, in_turns, network_alone
from experiments.train import load_preset
from gongzhu_jax import network, runtime
from gongzhu_jax.training.config import TrainingConfig
from gongzhu_jax.training.epoch import compile_epoch, compile_self_play, init_state

BATCHES = (64, 128, 256, 512, 1024)
"""Batch sizes tried for the best rate of the network alone."""


def run(
    presets: Mapping[str, int] | None = None, rounds: int = 3, seconds: float = 1.0, seed: int = 0
) -> dict[str, Any]:
    """One row for each preset; `presets` maps their names to how often an epoch is measured."""
    mesh = runtime.games_mesh()
    chosen = presets or {"compact": 3, "paper": 1}
    rows = [
        _measure(name, repeats, mesh, rounds, seconds, seed) for name, repeats in chosen.items()
    ]
    return {"rows": rows, "devices": mesh.size}


def _measure(
    preset: str, repeats: int, mesh: Mesh, rounds: int, seconds: float, seed: int
) -> dict[str, Any]:
    config = load_preset(preset)
    games = config.selfplay.games
    net = network.make(config.network)
    key = jax.random.key(seed)
    params = jax.device_put(net.init(key), runtime.on_all(mesh))
    self_play = compile_self_play(config, mesh)
    demanded = float(self_play(params, key)[1].demanded) / games
    alone = [(network_alone(net, mesh, size), alone_units(mesh, size)) for size in BATCHES]
    works: list[tuple[Callable[[], Any], float]] = [
        (functools.partial(evaluate, params), units) for evaluate, units in alone
    ]
    works.append((lambda: self_play(params, key), games))
    *speeds, played = in_turns(works, rounds, seconds)
    best = max(speeds)
    whole = _epoch_rate(config, mesh, repeats)
    return {
        "preset": preset,
        "network_per_second": best,
        "network_batch": BATCHES[speeds.index(best)],
        "evaluations_per_game": demanded,
        "bound_games_per_second": best / demanded,
        "selfplay_games_per_second": played,
        "share_of_bound": played * demanded / best,
        "epoch_games_per_second": whole,
        "epoch_seconds": games / whole,
    }


def _epoch_rate(config: TrainingConfig, mesh: Mesh, repeats: int) -> float:
    """Games per second of self-play and learning together, with the window full."""
    run_epoch = compile_epoch(config, mesh)
    state = init_state(config, mesh)
    for _ in range(config.learner.review - 1):
        state, _ = run_epoch(state)
    latest = [state]

    def work() -> Any:
        latest[0], metrics = run_epoch(latest[0])
        return metrics

    return rate(work, config.selfplay.games, repeats=repeats, seconds=0.1)
