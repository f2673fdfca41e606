"""The settings that commands share, as types. Their values, with reasons, are in configs/."""

import os
import tempfile
from collections.abc import Sized
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from gongzhu_jax.device_profile import check_sizes
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation.deal_sets import SETS, ChosenDeals, check_set, choose_deals
from gongzhu_jax.evaluation.seatings import SeatingOptions, fitting_batch


def at_least(least: float) -> dict[str, float]:
    """The metadata of a setting that may not be smaller, or not have fewer entries; None is
    allowed."""
    return {"least": least}


def check_least(settings: Any) -> None:
    """`ConfigError` if a setting is smaller than its metadata allow."""
    for each in fields(settings):
        value, least = getattr(settings, each.name), each.metadata.get("least")
        if least is not None and isinstance(value, Sized) and len(value) < least:
            raise ConfigError(f"{each.name} must name at least {least}, not {len(value)}")
        if least is not None and isinstance(value, int | float) and value < least:
            raise ConfigError(f"{each.name} must be at least {least}, not {value}")


@dataclass(frozen=True, kw_only=True)
class KeptSettings:
    """Where a result goes."""

    seed: int  # seed of the players' choices
    output: str | None
    publish: bool
    allow_changes: bool

    def __post_init__(self) -> None:
        check_file(self.output, "output", (".json",))
        check_least(self)


@dataclass(frozen=True, kw_only=True)
class PlaySettings(KeptSettings):
    """On which deals games are played, and how."""

    set: str
    deals: int  # how many deals are played, each `rotations` times
    rotations: int
    batch: int | None
    chunk: int | None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_set(self.set)
        if self.rotations not in (2, 4):
            raise ConfigError(f"rotations must be 2 or 4, not {self.rotations}")
        check_sizes(batch=self.batch, chunk=self.chunk)
        if self.publish and not (self.set in SETS and SETS[self.set].is_published):
            raise ConfigError(f"publish=true needs published deals, not set={self.set}")

    def choose_deals(self, count: int | None = None) -> ChosenDeals:
        return choose_deals(self.set, self.deals if count is None else count, self.seed)

    def seating_options(self, count: int | None = None) -> SeatingOptions:
        """How to play `count` deals."""
        batch = fitting_batch(self.deals if count is None else count, self.batch)
        return {"seed": self.seed, "rotations": self.rotations, "batch": batch, "chunk": self.chunk}


def check_file(name: str | None, setting: str, endings: tuple[str, ...]) -> None:
    """Before the work, not after it: whether a file of that name can be written."""
    if name is None:
        return
    if not name.endswith(endings):
        raise ConfigError(f"{setting} must end in {' or '.join(endings)}, not {name!r}")
    check_folder(Path(name).absolute().parent, setting)


def check_folder(folder: Path, setting: str) -> None:
    """`ConfigError` unless files can be written to the folder."""
    if not folder.is_dir():
        raise ConfigError(f"{setting}: there is no folder {os.path.relpath(folder)}")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        where = os.path.relpath(folder)
        raise ConfigError(f"{setting}: cannot write to {where}: {error}") from None


def check_run_folder(name: str, setting: str = "directory") -> None:
    """`ConfigError` unless files can be written to the folder, which may not be there yet."""
    folder = Path(name).absolute()
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        raise ConfigError(f"{setting}: {os.path.relpath(folder)} is not a folder")
    check_folder(folder, setting)
