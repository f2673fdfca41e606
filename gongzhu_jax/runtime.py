"""Devices and settings of jax: how a batch of games is spread over devices."""

import os
import platform
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import jax
import jaxlib
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

GAMES = "games"
"""The one axis of our meshes: data parallelism over games."""


def use_cpu_cores(count: int | None = None) -> None:
    """Shows each CPU core to jax as a device, so that all of them work on one batch.

    To be called before anything touches a device. No effect where there is an accelerator.
    """
    jax.config.update("jax_num_cpu_devices", count or available_cores())


def available_cores() -> int:
    """CPU cores that this process may use. Only Linux says which ones a process is bound to; macOS
    and Windows say how many there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def use_compilation_cache(folder: str | Path | None = None) -> None:
    """Keeps compiled programs between processes: in `folder`, by default one of the user's own.

    Entries are code that will be run, so the folder must not be writable for others. What
    `JAX_COMPILATION_CACHE_DIR` or an earlier call says goes first.
    """
    if jax.config.values["jax_compilation_cache_dir"] is None:
        jax.config.update("jax_compilation_cache_dir", str(folder or user_cache()))


def user_cache() -> Path:
    """The user's folder for compiled programs. They depend on the compiler and the processor, so
    both name it."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "gongzhu_jax" / f"{jaxlib.__version__}-{platform.machine()}"


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
