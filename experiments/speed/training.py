"""Games per second of self-play and of whole epochs, and their share of the bound.

The bound of self-play is the time that the evaluations which the budgets ask for take at the best
rate of the network alone; everything else, the game, the tree, idle simulations, is overhead.
"""

from collections.abc import Mapping
from typing import Any

import jax

from experiments.speed.rates import in_turns, network_alone, rate
from experiments.train import load_preset
from gongzhu_jax import network, runtime
from gongzhu_jax.training.epoch import compile_epoch, compile_self_play, init_state

BATCHES = (64, 128, 256, 512, 1024)
"""Batch sizes tried for the best rate of the network alone."""


def run(
    presets: Mapping[str, int] | None = None, rounds: int = 3, seconds: float = 1.0, seed: int = 0
) -> dict[str, Any]:
    """One row for each preset; `presets` maps their names to how often an epoch is measured."""
    mesh = runtime.games_mesh()
    key = jax.random.key(seed)
    rows = []
    for preset, repeats in (presets or {"compact": 3, "paper": 1}).items():
        config = load_preset(preset)
        games = config.selfplay.games
        net = network.make(config.network)
        params = jax.device_put(net.init(key), runtime.on_all(mesh))
        self_play = compile_self_play(config, mesh)
        demanded = float(self_play(params, key)[1].demanded) / games
        alone = [network_alone(net, params, mesh, size) for size in BATCHES]
        play = (lambda play=self_play, params=params: play(params, key)), games
        *speeds, played = in_turns([*alone, play], rounds, seconds)
        best = max(speeds)

        # Self-play and learning together, with the window full.
        run_epoch = compile_epoch(config, mesh)
        state = init_state(config, mesh)
        for _ in range(config.learner.review - 1):
            state, _ = run_epoch(state)
        latest = [state]

        def work(latest: list[Any] = latest, run_epoch: Any = run_epoch) -> Any:
            latest[0], metrics = run_epoch(latest[0])
            return metrics

        whole = rate(work, games, repeats=repeats, seconds=0.1)
        rows.append(
            {
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
        )
    return {"rows": rows, "devices": mesh.size}
