"""The settings of the commands as types. Their defaults, with reasons, are in configs/*.yaml."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation.deals import STANDARD_SEEDS, Deals, random_deals, standard_deals
from gongzhu_jax.evaluation.seatings import SeatingOptions

FROM_SEED = "seed"


@dataclass(frozen=True, kw_only=True)
class PlaySettings:
    """On which deals games are played, how, and where the result goes."""

    set: str
    deals: int
    seed: int
    batch: int
    chunk: int | None
    output: str | None

    def __post_init__(self) -> None:
        sets = (*STANDARD_SEEDS, FROM_SEED)
        if self.set not in sets:
            raise ConfigError(f"set must be one of {', '.join(sets)}, not {self.set!r}")
        check_file(self.output, "output", (".json",))

    def draw_deals(self) -> Deals:
        if self.set == FROM_SEED:
            return random_deals(self.seed, self.deals)
        return standard_deals(self.set, self.deals)

    def seating_options(self) -> SeatingOptions:
        return {"seed": self.seed, "batch": self.batch, "chunk": self.chunk}


@dataclass(frozen=True, kw_only=True)
class KeptSettings:
    """Of a command without games: where its result goes."""

    seed: int
    output: str | None

    def __post_init__(self) -> None:
        check_file(self.output, "output", (".json",))


@dataclass(frozen=True, kw_only=True)
class MatchSettings(PlaySettings):
    """With two teams, each deal is played more than once."""

    rotations: int

    def seating_options(self) -> SeatingOptions:
        return {**super().seating_options(), "rotations": self.rotations}


@dataclass(frozen=True, kw_only=True)
class EvaluateSettings(MatchSettings):
    player: str
    opponent: str
    player_options: dict[str, Any] = field(default_factory=dict)
    opponent_options: dict[str, Any] = field(default_factory=dict)
    records: str | None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_file(self.records, "records", (".jsonl", ".gz"))


@dataclass(frozen=True, kw_only=True)
class RoundRobinSettings(MatchSettings):
    players: list[str]
    options: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ClassicalSettings(PlaySettings):
    pass


def check_file(name: str | None, setting: str, endings: tuple[str, ...]) -> None:
    """Before the work, not after it: whether a file of that name can be written."""
    if name is None:
        return
    if not name.endswith(endings):
        raise ConfigError(f"{setting} must end in {' or '.join(endings)}, not {name!r}")
    if not Path(name).absolute().parent.is_dir():
        raise ConfigError(f"{setting}: there is no folder for {name!r}")
