"""Devices and settings of jax: how a batch of games is spread over devices."""

import os
from collections.abc import Generator
from contextlib import contextmanager

import jax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

GAMES = "games"
"""The one axis of our meshes: data parallelism over games."""


def use_cpu_cores(count: int | None = None) -> None:
    """Shows each CPU core to jax as a device, so that all of them work on one batch.

    To be called before anything touches a device. No effect where there is an accelerator.
    """
    cores = count or len(os.sched_getaffinity(0))
    jax.config.update("jax_num_cpu_devices", cores)


@contextmanager
def usual_promotion() -> Generator[None]:
    """For calls of libraries that mix types and ranks, where the program, as our tests do, forbids
    that (`jax_numpy_dtype_promotion`, `jax_numpy_rank_promotion`)."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def games_mesh(devices: list[jax.Device] | None = None) -> Mesh:
    """All devices (of all hosts) in one row."""
    devices = devices or jax.devices()
    # Auto axes: mctx's loops do not carry explicit sharding types.
    return jax.make_mesh((len(devices),), (GAMES,), devices=devices, axis_types=(AxisType.Auto,))


def over_games(mesh: Mesh) -> NamedSharding:
    """Arrays whose first axis is split over the devices."""
    return NamedSharding(mesh, PartitionSpec(GAMES))


def on_all(mesh: Mesh) -> NamedSharding:
    """Arrays of which every device has a copy."""
    return NamedSharding(mesh, PartitionSpec())
