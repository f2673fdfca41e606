"""Commands as tasks of Ray (the extra "ray"), on this machine or on a cluster.

Hydra's launcher for Ray wants packages that exclude those of its joblib launcher, and this is all
that a sweep needs.
"""

import importlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass

from gongzhu_jax.errors import ConfigError, MissingExtraError


@dataclass(frozen=True)
class RaySettings:
    address: str | None = None
    cpus: float = 1.0  # of each command
    gpus: float = 0.0

    def __post_init__(self) -> None:
        if self.cpus < 0 or self.gpus < 0:
            raise ConfigError("ray.cpus and ray.gpus must be at least 0")


def require_ray() -> None:
    if importlib.util.find_spec("ray") is None:
        raise MissingExtraError('launcher=ray needs Ray: pip install -e ".[ray]"')


def run_on_ray(
    module: str, function: str, lines: Sequence[Sequence[str]], settings: RaySettings
) -> int:
    """Calls a command with each of the lines; the worst exit code."""
    ray = importlib.import_module("ray")
    # Workers find our modules as this process does: Ray hands its sys.path on.
    ray.init(address=settings.address, include_dashboard=False, ignore_reinit_error=True)
    task = ray.remote(num_cpus=settings.cpus, num_gpus=settings.gpus)(_call)
    return max(ray.get([task.remote(module, function, list(line)) for line in lines]))


def _call(module: str, function: str, line: list[str]) -> int:
    return getattr(importlib.import_module(module), function)(line)
