"""Where independent work is done, as the matches of a comparison or the cells of a sweep: here, on
a Ray cluster (by default one on this machine), or on Slurm."""

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

from experiments.common.progress import progress
from gongzhu_jax.adapters.extras import needs_extra
from gongzhu_jax.errors import ConfigError

EXTRAS = {"submitit": "sweep", "ray": "ray"}
"""Launchers by the extra that brings their package."""
HERE = "here"
RETRIES = 10
"""How often Ray starts a piece again whose node has died."""


@dataclass(frozen=True)
class LauncherSettings:
    """One home for the settings of all launchers."""

    name: str = HERE  # where the pieces run: here, ray or submitit
    gpus: float = 0  # GPUs for each piece; with ray also a share: 0.25 puts four on a GPU
    cpus: int = 1  # CPU cores for each piece
    address: str | None = None  # ray: address of a running cluster, or auto; null: this machine
    partition: str | None = None  # submitit: partition of Slurm; null: processes on this machine
    minutes: int = 240  # submitit: the most that each piece may take
    folder: str = "runs/submitit"  # submitit: folder of its logs, visible to all machines

    def __post_init__(self) -> None:
        if self.name not in (HERE, *EXTRAS):
            known = ", ".join((HERE, *EXTRAS))
            raise ConfigError(f"launcher.name must be one of {known}, not {self.name!r}")
        if min(self.cpus, self.minutes) < 1 or self.gpus < 0:
            raise ConfigError("launcher: cpus and minutes must be at least 1, gpus 0")
        if self.gpus % 1 and (self.name == "submitit" or self.gpus > 1):
            raise ConfigError("launcher.gpus: only Ray shares a GPU, and only one")


def leave_devices(settings: LauncherSettings) -> None:
    """Keeps GPUs for the processes that do the work, in the process that hands it out, which would
    take their memory; it must be called before anything is done with jax."""
    if settings.name != HERE:
        jax.config.update("jax_platforms", "cpu")


def launch(
    settings: LauncherSettings, work: Callable[..., Any], calls: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[int, Any]]:
    """Makes all calls of `work` and yields the number of each with its result, as they come."""
    if settings.name == HERE:
        return ((number, work(*call)) for number, call in enumerate(calls))
    return (_on_ray if settings.name == "ray" else _on_slurm)(settings, work, calls)


def launch_all(
    settings: LauncherSettings,
    work: Callable[..., Any],
    calls: Sequence[tuple[Any, ...]],
    what: str,
    keep: Callable[[Any], None],
) -> list[Any]:
    """The results of all calls in their order, each kept as it comes. Ctrl-C says how many are."""
    results: dict[int, Any] = {}
    try:
        with progress(what) as advance:
            advance(0, len(calls))
            for number, result in launch(settings, work, calls):
                keep(result)
                results[number] = result
                advance(len(results), len(calls))
    except KeyboardInterrupt:
        done = f"{len(results)} of {len(calls)} {what} are finished and kept"
        raise KeyboardInterrupt(done) from None
    return [results[number] for number in range(len(calls))]


def _on_ray(
    settings: LauncherSettings, work: Callable[..., Any], calls: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[int, Any]]:
    with needs_extra(EXTRAS["ray"]):
        ray = importlib.import_module("ray")
    ray.init(address=settings.address, include_dashboard=False, ignore_reinit_error=True)
    variables = {"JAX_NUM_CPU_DEVICES": str(settings.cpus)}
    if 0 < settings.gpus < 1:  # jax would take most of the memory for one of those that share it
        variables["XLA_PYTHON_CLIENT_MEM_FRACTION"] = f"{0.9 * settings.gpus:.3f}"
    task = ray.remote(
        num_cpus=settings.cpus,
        num_gpus=settings.gpus,
        max_retries=RETRIES,
        runtime_env={"env_vars": variables},
    )(work)
    waiting = {task.remote(*call): number for number, call in enumerate(calls)}
    while waiting:
        (finished,), _ = ray.wait(list(waiting))
        try:
            yield waiting.pop(finished), ray.get(finished)
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error


def _on_slurm(
    settings: LauncherSettings, work: Callable[..., Any], calls: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[int, Any]]:
    with needs_extra(EXTRAS["submitit"]):
        submitit = importlib.import_module("submitit")
    Path(settings.folder).mkdir(parents=True, exist_ok=True)
    cluster = "slurm" if settings.partition else "local"
    executor = submitit.AutoExecutor(folder=settings.folder, cluster=cluster)
    resources: dict[str, Any] = {"cpus_per_task": settings.cpus, "timeout_min": settings.minutes}
    if settings.partition:
        resources |= {"slurm_partition": settings.partition, "gpus_per_node": int(settings.gpus)}
    executor.update_parameters(**resources)
    jobs = {executor.submit(work, *call): number for number, call in enumerate(calls)}
    for job in submitit.helpers.as_completed(list(jobs)):
        yield jobs[job], job.result()
