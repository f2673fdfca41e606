"""Simulations per second of the tree search beside plain network evaluations per second.

Both run on all devices of one process, in turns, so that other load on the machine falls on both;
the best of several rounds of each counts. The network alone gets batches of the same size as the
search's chunks. A simulation is one that a root's budget asked for: idle ones do not count.
"""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.speed.rates import SAME, SPLIT, in_turns, network_alone, on_devices
from gongzhu_jax import network, runtime
from gongzhu_jax.game.random_play import random_position
from gongzhu_jax.search import SearchConfig, network_policy_value, search

BUDGETS = {"1 x legal": (0, 1), "2 x legal": (0, 2), "10 + 2 x legal": (10, 2)}


def run(
    networks: Sequence[str] = ("compact", "fc24"),
    roots: int = 2048,
    chunk: int = 128,
    rounds: int = 3,
    seconds: float = 1.0,
    seed: int = 0,
) -> dict[str, Any]:
    """One row for each network and budget; `roots` positions of random games for each device."""
    mesh = runtime.games_mesh()
    keys = jax.random.split(jax.random.key(seed), roots * mesh.size)
    states = jax.device_put(jax.jit(jax.vmap(random_position))(keys), runtime.over_games(mesh))
    rows = []
    for name in networks:
        net = network.make(name)
        params = jax.device_put(net.init(jax.random.key(seed)), runtime.on_all(mesh))
        alone = network_alone(net, params, mesh, chunk)
        for label, (base, per_legal) in BUDGETS.items():
            config = SearchConfig(base=base, per_legal=per_legal, chunk=chunk)
            on_device = functools.partial(_evaluations, net=net, config=config)
            compiled = on_devices(on_device, mesh, (SAME, SPLIT))
            work = functools.partial(compiled, params, states)
            demanded, evaluated = np.sum(work(), axis=0).tolist()
            by_network, simulated = in_turns([alone, (work, demanded)], rounds, seconds)
            rows.append(
                {
                    "network": name,
                    "budget": label,
                    "network_per_second": by_network,
                    "simulations_per_second": simulated,
                    "share": simulated / by_network,
                    "waste": 1 - demanded / evaluated,
                }
            )
    return {"rows": rows, "devices": mesh.size}


def _evaluations(params: Any, states: Any, net: network.Network, config: SearchConfig) -> jax.Array:
    """Evaluations demanded and made, int32[1, 2]."""
    result = search(params, jax.random.key(0), states, network_policy_value(net), config)
    # Q must be computed for its sum to be.
    used = jnp.sum(jnp.where(result.visits > 0, result.q, 0.0)) > -jnp.inf
    return jnp.stack([result.demanded, result.evaluated])[None] * used.astype(jnp.int32)
