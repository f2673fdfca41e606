"""Simulations per second of the tree search beside plain network evaluations per second.

Both run on all devices of one process, in turns, so that other load on the machine falls on both;
the best of several rounds of each counts. The network alone gets batches of the same size as the
search's chunks. A simulation is one that a root's budget asked for: idle ones do not count.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, PartitionSpec

from experiments.speed.rates import rate
from gongzhu_jax import network, runtime
from gongzhu_jax.device_profile import profile
from gongzhu_jax.game.random_play import random_position
from gongzhu_jax.network.features import NUM_FEATURES
from gongzhu_jax.search import SearchConfig, network_policy_value, search

BUDGETS = {"1 x legal": (0, 1), "2 x legal": (0, 2), "10 + 2 x legal": (10, 2)}


def run(
    networks: Sequence[str] = ("compact", "fc24"),
    roots: int = 2048,
    chunk: int | None = None,
    rounds: int = 3,
    seconds: float = 1.0,
    seed: int = 0,
) -> dict[str, Any]:
    """One row for each network and budget; `roots` positions of random games for each device."""
    chunk = chunk or profile().states
    mesh = runtime.games_mesh()
    keys = jax.random.split(jax.random.key(seed), roots * mesh.size)
    states = jax.device_put(jax.jit(jax.vmap(random_position))(keys), runtime.over_games(mesh))
    rows = []
    for name in networks:
        net = network.make(name)
        params = jax.device_put(net.init(jax.random.key(seed)), runtime.on_all(mesh))
        alone = network_alone(net, mesh, chunk)
        for label, (base, per_legal) in BUDGETS.items():
            config = SearchConfig(base=base, per_legal=per_legal, chunk=chunk)
            searched = compile_search(net, config, mesh)
            demanded, evaluated = (int(x) for x in searched(params, states))
            speeds = in_turns(
                [
                    (lambda alone=alone, params=params: alone(params), alone_units(mesh, chunk)),
                    (lambda f=searched, params=params: f(params, states), demanded),
                ],
                rounds,
                seconds,
            )
            rows.append(
                {
                    "network": name,
                    "budget": label,
                    "network_per_second": speeds[0],
                    "simulations_per_second": speeds[1],
                    "share": speeds[1] / speeds[0],
                    "waste": 1 - demanded / evaluated,
                }
            )
    return {"rows": rows, "devices": mesh.size}


def in_turns(
    works: Sequence[tuple[Callable[[], Any], float]], rounds: int, seconds: float
) -> list[float]:
    """Best rate of each (work, units) over `rounds` in which each is measured once."""
    best = [0.0] * len(works)
    for _ in range(rounds):
        for index, (work, units) in enumerate(works):
            best[index] = max(best[index], rate(work, units, repeats=1, seconds=seconds))
    return best


ALONE_BATCHES = 16


def alone_units(mesh: Mesh, chunk: int) -> int:
    """Evaluations that one call of `network_alone` makes."""
    return ALONE_BATCHES * chunk * mesh.size


def network_alone(net: network.Network, mesh: Mesh, chunk: int) -> Callable[[Any], jax.Array]:
    """params -> evaluations of batches of `chunk` on every device, one after the other."""

    def on_device(params):
        # The next input depends on the last output, so that nothing can be left out or joined.
        def evaluate(_, features):
            logits, value = net.apply(params, features)
            return features + 1e-6 * (value[:, None] + logits[:, :1])

        start = jnp.full((chunk, NUM_FEATURES), 0.1)
        return jax.lax.fori_loop(0, ALONE_BATCHES, evaluate, start)

    spec = PartitionSpec()
    split = PartitionSpec(runtime.GAMES)
    return jax.jit(
        jax.shard_map(on_device, mesh=mesh, in_specs=spec, out_specs=split, check_vma=False)
    )


def compile_search(net: network.Network, config: SearchConfig, mesh: Mesh):
    """(params, states) -> evaluations demanded and made."""

    def on_device(params, states):
        result = search(params, jax.random.key(0), states, network_policy_value(net), config)
        # Q must be computed for its sum to be.
        used = jnp.sum(jnp.where(result.visits > 0, result.q, 0.0)) > -jnp.inf
        counts = jnp.stack([result.demanded, result.evaluated]) * used.astype(jnp.int32)
        return jax.lax.psum(counts, runtime.GAMES)

    spec, split = PartitionSpec(), PartitionSpec(runtime.GAMES)
    return jax.jit(
        jax.shard_map(on_device, mesh=mesh, in_specs=(spec, split), out_specs=spec, check_vma=False)
    )
