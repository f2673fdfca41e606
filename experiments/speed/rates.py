"""Measuring how often something can be done in a second, on all devices."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, PartitionSpec

from gongzhu_jax import runtime
from gongzhu_jax.network import Network
from gongzhu_jax.network.features import NUM_FEATURES

ALONE_BATCHES = 16
"""Batches that one call of `network_alone` evaluates, one after the other."""
SPLIT, SAME = PartitionSpec(runtime.GAMES), PartitionSpec()
"""How arrays lie on the devices: a part on each, or the same on all."""

Work = tuple[Callable[[], Any], float]
"""What is measured, and the units of work that one call does."""


def rate(work: Callable[[], Any], units: float, *, repeats: int = 3, seconds: float = 0.3) -> float:
    """Units of work per second, best of `repeats`, when one call does `units` of it.

    The first call is not counted: it compiles. Each measurement lasts at least about `seconds`.
    """

    def duration(calls: int) -> float:
        start = time.perf_counter()
        for _ in range(calls):
            jax.block_until_ready(work())
        return time.perf_counter() - start

    jax.block_until_ready(work())
    calls = max(1, round(seconds / duration(1)))
    return units * calls / min(duration(calls) for _ in range(repeats))


def in_turns(works: Sequence[Work], rounds: int, seconds: float) -> list[float]:
    """Best rate of each work over `rounds` in which each is measured once."""
    turns = [
        [rate(work, units, repeats=1, seconds=seconds) for work, units in works]
        for _ in range(rounds)
    ]
    return [max(speeds) for speeds in zip(*turns, strict=True)]


def on_devices(
    work: Callable[..., Any], mesh: Mesh, in_specs: Any = SPLIT, out_specs: Any = SPLIT
) -> Callable[..., Any]:
    """`work` compiled so that each device does its part by itself: else they would wait for each
    other in loops."""
    # Constants are the same on all devices, what comes of them is not.
    return jax.jit(
        jax.shard_map(work, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=False)
    )


def network_alone(net: Network, params: Any, mesh: Mesh, batch: int) -> Work:
    """Plain evaluations of the network in batches of that size on every device."""

    def on_device(params):
        # The next input depends on the last output, so that nothing can be left out or joined.
        def evaluate(_, features):
            logits, value = net.apply(params, features)
            return features + 1e-6 * (value[:, None] + logits[:, :1])

        start = jnp.full((batch, NUM_FEATURES), 0.1)
        return jax.lax.fori_loop(0, ALONE_BATCHES, evaluate, start)

    compiled = on_devices(on_device, mesh, SAME)
    return lambda: compiled(params), ALONE_BATCHES * batch * mesh.size
