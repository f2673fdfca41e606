"""Devices and settings of jax: how a batch of games is spread over devices."""

import os
import platform
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import jax
import jaxlib
from jax.experimental import multihost_utils
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from gongzhu_jax.errors import ConfigError

GAMES = "games"
"""The one axis of our meshes: data parallelism over games."""


def use_cpu_cores() -> None:
    """Shows each CPU core to jax as a device, so that all of them work on one batch.

    To be called before anything touches a device. No effect where there is an accelerator.
    """
    jax.config.update("jax_num_cpu_devices", available_cores())


def available_cores() -> int:
    """CPU cores that this process may use. Only Linux says which ones a process is bound to; macOS
    and Windows say how many there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def use_compilation_cache() -> None:
    """Keeps compiled programs between processes, in a folder of the user's own.

    Entries are code that will be run, so the folder must not be writable for others. Another
    folder that was chosen before, as by `JAX_COMPILATION_CACHE_DIR`, stays;
    `JAX_ENABLE_COMPILATION_CACHE=false` keeps nothing.
    """
    if jax.config.values["jax_compilation_cache_dir"] is not None:
        return
    folder = user_cache()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return  # a home that cannot be written to: everything works, only slower
    jax.config.update("jax_compilation_cache_dir", str(folder))


def compilation_cache() -> Path | None:
    """The folder in which compiled programs are kept, or None if they are not."""
    folder = jax.config.values["jax_compilation_cache_dir"]
    kept = jax.config.values["jax_enable_compilation_cache"] and folder
    return Path(folder) if kept else None


def user_cache() -> Path:
    """The user's folder for compiled programs. They depend on the compiler and the processor, so
    both name it."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "gongzhu_jax" / f"{jaxlib.__version__}-{platform.machine()}"


def join_hosts() -> None:
    """Makes this process one of several whose devices compute together, and waits for the others.
    To be called before anything touches a device.

    Slurm, Open MPI, Kubernetes and TPU pods tell a process its place among the others; elsewhere
    `JAX_COORDINATOR_ADDRESS`, `JAX_NUM_PROCESSES` and `JAX_PROCESS_ID` do.
    """
    # Of these variables jax itself reads only the address.
    told = (os.environ.get(name) for name in ("JAX_NUM_PROCESSES", "JAX_PROCESS_ID"))
    processes, place = (int(number) if number else None for number in told)
    try:
        jax.distributed.initialize(num_processes=processes, process_id=place)
    except ValueError as error:
        raise ConfigError(
            f"this process does not know its place among the others: {error} Set "
            "JAX_COORDINATOR_ADDRESS, JAX_NUM_PROCESSES and JAX_PROCESS_ID"
        ) from error
    # Processes on CPUs give up on each other if one arrives at their first common operation half a
    # minute after the others, and compiling may differ by more. Later ones have no such limit.
    multihost_utils.sync_global_devices("start")


@contextmanager
def usual_promotion() -> Generator[None]:
    """Allows implicit promotion of types and ranks around calls to libraries that rely on it, for
    programs that forbid it, as our tests do (`jax_numpy_dtype_promotion`,
    `jax_numpy_rank_promotion`)."""
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
