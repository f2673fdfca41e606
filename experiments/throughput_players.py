"""Draws of hidden hands and decisions of Mr. Greed per second, on all devices.

Positions are those of random games, all of a batch at the same stage, as in matches. A draw is one
deal of all hidden cards; the tables of a view, made once for its draws, are counted in.
"""

from collections.abc import Sequence
from typing import Any

import jax
from jax.sharding import PartitionSpec

from experiments.results import rate
from gongzhu_jax import players, runtime
from gongzhu_jax.game import env
from gongzhu_jax.game.random_play import random_position
from gongzhu_jax.game.view import PublicView, view
from gongzhu_jax.inference import sampling

_GAMES = PartitionSpec(runtime.GAMES)


def run(
    games: int = 1024,
    samples: int = 20,
    group: int = 32,
    stages: Sequence[int] = (0, 1, 2, 3, 12, 13, 14, 15, 24, 25, 26, 27, 36, 37, 38, 39, 44, 48),
    repeats: int = 3,
    seconds: float = 0.5,
    seed: int = 0,
) -> dict[str, Any]:
    """One row for the sampler over all stages, and one for Mr. Greed at each stage.

    Args:
      games: positions in a batch.
      samples: deals for each position.
      group: positions that the sampler works on at once; small groups stay in the caches.
    """
    mesh = runtime.games_mesh()
    timing = {"repeats": repeats, "seconds": seconds}
    keys = jax.device_put(jax.random.split(jax.random.key(seed), games), runtime.over_games(mesh))

    def measure(act, views: PublicView, units: int) -> float:
        # Not over all devices at once but each for itself: else loops would wait for each other.
        work = jax.jit(
            jax.shard_map(act, mesh=mesh, in_specs=_GAMES, out_specs=_GAMES, check_vma=False)
        )
        views = jax.device_put(views, runtime.over_games(mesh))
        return rate(lambda: work(keys, views), units, **timing)

    def draw(keys: jax.Array, views: PublicView) -> jax.Array:
        one = lambda item: sampling.sample(*item, samples)  # noqa: E731
        return jax.lax.map(one, (keys, views), batch_size=group)

    greed = players.make("greed", samples=samples)
    speed = measure(draw, _views(seed, games, 0, 51), games * samples)
    rows = [_row("draws of hidden hands", "all", speed, 1)]
    for stage in stages:
        views = _views(seed, games, stage, stage)
        speed = measure(lambda *batch: greed.act_batch(greed.params, *batch), views, games)
        rows.append(_row("decisions of greed", stage, speed, samples))
    return {"rows": rows, "devices": mesh.size}


def _row(what: str, stage: int | str, speed: float, draws: int) -> dict[str, Any]:
    microseconds = 1e6 / (speed * draws)
    return {"what": what, "stage": stage, "per_second": speed, "us_per_deal": microseconds}


def _views(seed: int, games: int, earliest: int, latest: int) -> PublicView:
    """Views of the players to move in random games. [games]"""

    @jax.jit
    @jax.vmap
    def look(key: jax.Array) -> PublicView:
        state = random_position(key, earliest, latest)
        return view(state, env.player_to_move(state))

    return look(jax.random.split(jax.random.key(seed), games))
