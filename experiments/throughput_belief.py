"""What the learned belief costs: decisions per second of the same player with and without it.

Measured in turns, so that the ratio holds on a busy machine too. The belief and the network are
those of the package.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import jax

from experiments.throughput_inference import compile_decisions, views_with_choice
from experiments.throughput_search import in_turns
from gongzhu_jax import players, runtime

PLAYERS: Mapping[str, Mapping[str, str]] = {
    "without": {"sampler": "uniform", "weights": "none"},
    "weights=belief": {"sampler": "uniform", "weights": "belief"},
    "sampler=belief, weights=belief": {"sampler": "belief", "weights": "belief"},
}
"""The first is what the others are compared with."""


def run(
    player: str = "scrofa-strong",
    options: Mapping[str, Any] | None = None,
    decisions: Sequence[int] = (1, 128),
    rounds: int = 6,
    seconds: float = 1.0,
    seed: int = 0,
) -> dict[str, Any]:
    """One row for each way of using the belief and number of decisions per device at once;
    `options` are those of all players."""
    mesh = runtime.games_mesh()
    rows = []
    for count in decisions:
        total = count * mesh.size
        works = [_work(player, {**(options or {}), **own}, total, seed) for own in PLAYERS.values()]
        speeds = in_turns([(work, total) for work in works], rounds, seconds)
        rows += [
            {
                "belief": name,
                "decisions_at_once": total,
                "decisions_per_second": speed,
                "slower": 1 - speed / speeds[0],
            }
            for name, speed in zip(PLAYERS, speeds, strict=True)
        ]
    return {"rows": rows, "devices": mesh.size}


def _work(name: str, options: Mapping[str, Any], count: int, seed: int) -> functools.partial:
    mesh = runtime.games_mesh()
    position_key, decision_key = jax.random.split(jax.random.key(seed))
    over = runtime.over_games(mesh)
    views = jax.device_put(views_with_choice(position_key, count), over)
    keys = jax.device_put(jax.random.split(decision_key, count), over)
    player = players.make(name, **options)
    params = jax.device_put(player.params, runtime.on_all(mesh))
    return functools.partial(compile_decisions(player, mesh), params, keys, views)
