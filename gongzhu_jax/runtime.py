"""Devices: how many there are and how a batch of games is spread over them."""

import os

import jax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

GAMES = "games"
"""The one axis of our meshes: data parallelism over games."""


def use_cpu_cores(count: int | None = None) -> None:
    """Shows each CPU core to jax as a device, so that all of them work on one batch.

    To be called before anything touches a device. No effect where an accelerator is found.
    """
    jax.config.update("jax_num_cpu_devices", count or available_cores())


def available_cores() -> int:
    """CPU cores that this process may use. Only Linux says which ones a process is bound to; macOS
    and Windows say how many there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
