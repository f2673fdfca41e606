"""What the parts of scrofa-strong cost: decisions per second with more and more of them, and with
the distilled policy alone.

Measured in turns, so that the ratio holds on a busy machine too. All networks are those of the
package. Few decisions at once are taken from many positions, one after the other: a long history
makes the opponent model dearer and leaves fewer cards to search.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from experiments.speed.inference import views_with_choice
from experiments.speed.rates import SAME, SPLIT, in_turns, on_devices
from gongzhu_jax import players, runtime

PLAIN = {"search.rollout": "none", "racing.block": 0}
ALL_SEARCHED = {"scenarios.candidates": 0, **PLAIN}
BELIEF_ONLY = {"weights.rule": "none", "weights.belief_power": 1.0, **ALL_SEARCHED}
STRONG = "racing too"
"""The last of the variants is scrofa-strong itself."""
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "without": {"scenarios.proposal": "uniform", **BELIEF_ONLY, "weights.belief_power": 0.0},
    "weights by belief": {"scenarios.proposal": "uniform", **BELIEF_ONLY},
    "proposal and weights by belief": BELIEF_ONLY,
    "weights by belief and opponent model too": ALL_SEARCHED,
    "the same, twice as many weighed": PLAIN,
    "rollouts too": {"racing.block": 0},
    STRONG: {},
}
DISTILLED = "distilled policy, no scenarios"
POSITIONS = 128
"""At least so many are decided in each measurement."""


def run(
    options: Mapping[str, Any] | None = None,
    decisions: Sequence[int] = (1, 128),
    rounds: int = 3,
    seconds: float = 1.0,
    seed: int = 0,
) -> dict[str, Any]:
    """One row for each player and number of decisions per device at once; `options` are those of
    all variants of scrofa-strong. Their speed is compared with that of scrofa-strong itself."""
    chosen = {name: {**(options or {}), **own} for name, own in VARIANTS.items()}
    made = {name: players.make("scrofa-strong", **own) for name, own in chosen.items()}
    made[DISTILLED] = players.make("distilled")
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
        for player in made.values():
            params = jax.device_put(player.params, runtime.on_all(mesh))
            act = on_devices(player.act_batch, mesh, (SAME, SPLIT, SPLIT))
            decide = functools.partial(act, params)
            works.append((functools.partial(_decide_all, decide, batches), decided))
        speeds = dict(zip(made, in_turns(works, rounds, seconds), strict=True))
        rows += [
            {
                "player": name,
                "decisions_at_once": total,
                "decisions_per_second": speed,
                "times_as_fast": speed / speeds[STRONG],
            }
            for name, speed in speeds.items()
        ]
    return {"rows": rows, "devices": mesh.size}


def _decide_all(decide: Callable[..., jax.Array], batches: Sequence[Any]) -> list[jax.Array]:
    """Decides all positions, a batch at once."""
    return [decide(*batch) for batch in batches]
