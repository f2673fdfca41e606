"""Draws of hidden hands and decisions of Mr. Greed per second, on all devices.

Positions are those of random games, all of a batch at the same stage, as in matches. A draw is one
deal of all hidden cards; the tables of a view, made once for its draws, are counted in.
"""

import resource
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax

from experiments.speed.rates import on_devices, rate
from gongzhu_jax import players, runtime
from gongzhu_jax.evaluation.matches import match_seating
from gongzhu_jax.game import env
from gongzhu_jax.game.public_view import PublicView, view
from gongzhu_jax.game.random_play import random_position
from gongzhu_jax.inference import sampling


def run(
    games: int = 1024,
    samples: int = 20,
    group: int = 32,
    stages: Sequence[int] = (0, 1, 2, 3, 12, 13, 14, 15, 24, 25, 26, 27, 36, 37, 38, 39, 44, 48),
    repeats: int = 3,
    seconds: float = 0.5,
    match_deals: int = 1024,
    seed: int = 0,
) -> dict[str, Any]:
    """One row for the sampler over all stages, one for Mr. Greed at each stage, and a match.

    Args:
      games: positions in a batch.
      samples: deals for each position.
      group: positions that the sampler works on at once; small groups stay in the caches.
    """
    mesh = runtime.games_mesh()
    greed = players.make("greed", samples=samples)
    keys = jax.random.split(jax.random.key(seed), games)

    def draw(keys: jax.Array, views: PublicView) -> jax.Array:
        return jax.lax.map(
            lambda item: sampling.sample(*item, samples), (keys, views), batch_size=group
        )

    def measure(work: Callable[..., jax.Array], earliest: int, latest: int) -> float:
        @jax.jit
        @jax.vmap
        def look(key: jax.Array) -> PublicView:
            state = random_position(key, earliest, latest)
            return view(state, env.player_to_move(state))

        batch = jax.device_put((keys, look(keys)), runtime.over_games(mesh))
        return rate(lambda: work(*batch), games, repeats=repeats, seconds=seconds)

    decide = on_devices(lambda *batch: greed.act_batch(greed.params, *batch), mesh)
    rows = [_row("deals drawn", "all", measure(on_devices(draw, mesh), 0, 51) * samples, 1)]
    rows += [_row("greed decides", at, measure(decide, at, at), samples) for at in stages]

    # Greed against If, each deal twice, with the share of all cores that was used.
    match = match_seating(players.make("greed"), players.make("if"), seed=seed)
    match.compile()
    busy = time.process_time()
    result = match.play(match_deals)
    busy = time.process_time() - busy
    row = _row("games of greed against if", f"{match_deals} x 2", result.games_per_second)
    rows.append(row | {"cores_used": busy / result.seconds / runtime.available_cores()})
    return {
        "rows": rows,
        "devices": mesh.size,
        "peak_memory_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def _row(what: str, stage: int | str, speed: float, deals: int | None = None) -> dict[str, Any]:
    return {
        "what": what,
        "stage": stage,
        "per_second": speed,
        "microseconds_per_deal": 1e6 / (speed * deals) if deals else "",
        "cores_used": "",
    }
