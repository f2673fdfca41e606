"""Where the cells of a sweep are played: here, in several processes, on Slurm, or on Ray."""

import importlib
import multiprocessing
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

from gongzhu_jax.errors import ConfigError, MissingExtraError

EXTRAS = {"joblib": "sweep", "submitit": "sweep", "ray": "ray"}
"""Launchers by the extra that brings their package."""
HERE = "here"


@dataclass(frozen=True)
class LauncherSettings:
    """One home for the settings of all launchers."""

    name: str = HERE  # here, joblib, submitit or ray
    processes: int = 2  # joblib: at the same time
    gpus: int = 0  # of each cell; joblib: GPUs of this machine that processes take turns with
    cpus: int = 1  # of each cell
    address: str | None = None  # ray: of a cluster that is running, or auto
    partition: str | None = None  # submitit: of Slurm; null: processes on this machine
    minutes: int = 240  # submitit: at most, for each cell
    folder: str = "runs/submitit"  # submitit: of its logs, seen by all machines

    def __post_init__(self) -> None:
        if self.name not in (HERE, *EXTRAS):
            known = ", ".join((HERE, *EXTRAS))
            raise ConfigError(f"launcher.name must be one of {known}, not {self.name!r}")
        if min(self.processes, self.cpus, self.minutes) < 1 or self.gpus < 0:
            raise ConfigError("launcher: processes, cpus and minutes must be at least 1, gpus 0")


def launch(
    settings: LauncherSettings, work: Callable[..., None], calls: Sequence[tuple[Any, ...]]
) -> None:
    """Makes all calls of `work` in processes elsewhere and waits; nothing for "here"."""
    if settings.name == HERE:
        return
    package = _package(settings.name)
    jax.config.update("jax_platforms", "cpu")  # this process must not take the others' memory
    if settings.name == "joblib":
        tasks = (package.delayed(_on_own_gpu)(work, call, settings.gpus) for call in calls)
        package.Parallel(n_jobs=settings.processes)(tasks)
    elif settings.name == "ray":
        package.init(address=settings.address, include_dashboard=False, ignore_reinit_error=True)
        task = package.remote(num_cpus=settings.cpus, num_gpus=settings.gpus)(work)
        package.get([task.remote(*call) for call in calls])
    else:
        Path(settings.folder).mkdir(parents=True, exist_ok=True)
        cluster = "slurm" if settings.partition else "local"
        executor = package.AutoExecutor(folder=settings.folder, cluster=cluster)
        resources: dict[str, Any] = {
            "cpus_per_task": settings.cpus,
            "timeout_min": settings.minutes,
        }
        if settings.partition:
            resources |= {"slurm_partition": settings.partition, "gpus_per_node": settings.gpus}
        executor.update_parameters(**resources)
        for job in [executor.submit(work, *call) for call in calls]:
            job.result()


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        extra = EXTRAS[name]
        raise MissingExtraError(
            f'launcher.name={name} needs an extra: pip install -e ".[{extra}]"'
        ) from None


def worker(count: int) -> int:
    """The number of this process among `count` of joblib, so that each takes another GPU."""
    number = re.search(r"\d+$", multiprocessing.current_process().name)
    return (int(number[0]) - 1) % count if number else 0


def _on_own_gpu(work: Callable[..., None], call: tuple[Any, ...], gpus: int) -> None:
    if gpus:
        os.environ["CUDA_VISIBLE_DEVICES"] = str(worker(gpus))
    work(*call)
