"""What the parts of scrofa-strong cost: decisions per second with more and more of them.

Measured in turns, so that the ratio holds on a busy machine too. All networks are those of the
package. Few decisions at once are taken from many positions, one after the other: a long history
makes the opponent model dearer and leaves fewer cards to search.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from experiments.speed.inference import compile_decisions, views_with_choice
from experiments.speed.rates import in_turns
from gongzhu_jax import players, runtime

PLAIN = {"search.rollout": "none", "racing.block": 0}
ALL_SEARCHED = {"scenarios.candidates": 0, **PLAIN}
BELIEF_ONLY = {"weights.rule": "none", "weights.belief_power": 1.0, **ALL_SEARCHED}
PLAYERS: Mapping[str, Mapping[str, Any]] = {
    "without": {"scenarios.proposal": "uniform", **BELIEF_ONLY, "weights.belief_power": 0.0},
    "weights by belief": {"scenarios.proposal": "uniform", **BELIEF_ONLY},
    "proposal and weights by belief": BELIEF_ONLY,
    "weights by belief and opponent model too": ALL_SEARCHED,
    "the same, twice as many weighed": PLAIN,
    "rollouts too": {"racing.block": 0},
    "racing too": {},
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
    position_key, decision_key = jax.random.split(jax.random.key(seed))
    rows = []
    for count in decisions:
        total = count * mesh.size
        decided = -(-POSITIONS // total) * total
        keys = jax.random.split(decision_key, decided)
        drawn = keys, views_with_choice(position_key, decided)
        batches = [
            jax.device_put(
                jax.tree.map(lambda leaf, i=i, n=total: leaf[i : i + n], drawn),
                runtime.over_games(mesh),
            )
            for i in range(0, decided, total)
        ]
        works = []
        for own in PLAYERS.values():
            made = players.make(player, **{**(options or {}), **own})
            params = jax.device_put(made.params, runtime.on_all(mesh))
            decide = functools.partial(compile_decisions(made, mesh), params)
            works.append((functools.partial(_decide_all, decide, batches), decided))
        speeds = in_turns(works, rounds, seconds)
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


def _decide_all(decide: Callable[..., jax.Array], batches: Sequence[Any]) -> list[jax.Array]:
    """Decides all positions, a batch at once."""
    return [decide(*batch) for batch in batches]
