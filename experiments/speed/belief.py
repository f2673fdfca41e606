"""What the belief and the opponent model cost: decisions per second with and without them.

Measured in turns, so that the ratio holds on a busy machine too. All networks are those of the
package. Few decisions at once are taken from many positions, one after the other: a long history
makes the opponent model dearer and leaves fewer cards to search.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from experiments.speed.inference import compile_decisions, views_with_choice
from experiments.speed.search import in_turns
from gongzhu_jax import players, runtime

ALL_SEARCHED = {"scenarios.candidates": 0}
BELIEF_ONLY = {"weights.rule": "none", "weights.belief_power": 1.0, **ALL_SEARCHED}
PLAYERS: Mapping[str, Mapping[str, Any]] = {
    "without": {"scenarios.proposal": "uniform", **BELIEF_ONLY, "weights.belief_power": 0.0},
    "weights by belief": {"scenarios.proposal": "uniform", **BELIEF_ONLY},
    "proposal and weights by belief": BELIEF_ONLY,
    "weights by belief and opponent model too": ALL_SEARCHED,
    "the same, twice as many weighed": {},
}
"""The first is what the others are compared with."""
POSITIONS = 128
"""At least so many are decided in each measurement."""


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
        decided = -(-POSITIONS // total) * total
        speeds = in_turns([(work, decided) for work in works], rounds, seconds)
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


def _work(name: str, options: Mapping[str, Any], count: int, seed: int) -> Callable[[], Any]:
    """Decides all positions, `count` at once."""
    mesh = runtime.games_mesh()
    over = runtime.over_games(mesh)
    player = players.make(name, **options)
    params = jax.device_put(player.params, runtime.on_all(mesh))
    decide = compile_decisions(player, mesh)
    position_key, decision_key = jax.random.split(jax.random.key(seed))
    calls = -(-POSITIONS // count)
    views = views_with_choice(position_key, calls * count)
    keys = jax.random.split(decision_key, calls * count)
    batches = [
        jax.device_put(
            jax.tree.map(lambda leaf, i=i: leaf[i * count : (i + 1) * count], (keys, views)), over
        )
        for i in range(calls)
    ]
    return lambda: [decide(params, *batch) for batch in batches]
