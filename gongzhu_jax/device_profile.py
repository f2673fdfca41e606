"""Sizes that suit the device: how much work is put into one call of a kernel.

A CPU wants pieces that fit its caches. An accelerator waits some microseconds for every kernel that
it starts, so its pieces must be large enough to be worth that. No result depends on these sizes.
"""

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import jax

from gongzhu_jax.errors import ConfigError

ENVIRONMENT = "GONGZHU_DEVICE_PROFILE"
"""Environment variable that changes sizes for a whole process, such as "plays=64,states=4096"."""
SPEED_SETTINGS = frozenset({"chunk"})
"""Settings of players and runs that take the place of a size here, so they change no result."""


def check_sizes(**sizes: int | None) -> None:
    """`ConfigError` unless every size is a positive number, or None for what suits the device."""
    for name, value in sizes.items():
        if value is not None and (type(value) is not int or value < 1):
            raise ConfigError(f"{name} must be a whole number from 1 on, not {value!r}")


@dataclass(frozen=True)
class DeviceProfile:
    """Sizes on one device."""

    states: int  # states per network batch of a decision: slices, roots that share one tree
    selfplay_states: int  # the same in self-play, where all games search at once
    scenarios: int  # scenarios drawn together: each looks up its stratum in tables of 50 kB
    plays: int  # plays judged together by the opponent model, each in all scenarios of a decision
    greed_deals: int  # deals times games of Mr. Greed at once
    decisions: int  # decisions that a player is asked for at once
    deals: int  # deals of a match in one call, each played in all its rotations
    annotated_games: int  # games whose positions a critic looks at together
    # Messages between devices in an update with the rmse loss: 2, or 1 at the price of a second
    # backward pass, which pays where a message takes 70 microseconds or more: between machines.
    messages: int

    def __post_init__(self) -> None:
        check_sizes(**{field.name: getattr(self, field.name) for field in fields(self)})


CPU = DeviceProfile(
    # Larger batches gain little, and a single decision, with nine roots and some seventy slices,
    # would mostly evaluate padding.
    states=128,
    selfplay_states=256,
    scenarios=512,
    plays=8,
    greed_deals=640,
    decisions=64,
    deals=256,
    annotated_games=16,
    messages=2,
)
GPU = DeviceProfile(
    states=16384,
    selfplay_states=16384,
    scenarios=65536,
    plays=512,
    greed_deals=20480,
    decisions=1024,
    deals=2048,
    annotated_games=512,
    messages=2,
)
PROFILES: Mapping[str, DeviceProfile] = {"cpu": CPU, "gpu": GPU, "tpu": GPU}
"""The sizes of a device, by the name of jax's backend."""

using = jax.make_user_context()
"""`with using(profile):` takes that profile; functions under `jit` are then compiled anew."""


def profile() -> DeviceProfile:
    """The sizes to use now: those of `using`, else of the backend and the environment."""
    return using.value or _usual(jax.default_backend(), os.environ.get(ENVIRONMENT, ""))


@functools.cache
def _usual(backend: str, changes: str) -> DeviceProfile:
    known = {field.name for field in fields(DeviceProfile)}
    sizes: dict[str, int] = {}
    for change in filter(None, changes.split(",")):
        name, _, value = change.partition("=")
        if name not in known or not value.isdecimal():
            raise ConfigError(
                f"{ENVIRONMENT} has {change!r}; wanted: name=number, with the names "
                f"{', '.join(sorted(known))}"
            )
        sizes[name] = int(value)
    return replace(PROFILES.get(backend, GPU), **sizes)
