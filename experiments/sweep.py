"""Sweeps: a match for every combination of settings, all on the same deals.

    python -m experiments.sweep weights.beta=0,0.015,0.05 search.per_legal=1,2,4
    python -m experiments.sweep grid=beta

Anything can be swept: options of the player (`scenarios`, `weights`, `search`, and others as
`options`), of the opponent (`opponent_options`), `player`, `opponent`, `checkpoint`, `seed`, `set`
and `deals`; with `training.*`, the settings of `experiments.train`, a network is trained for the
cell and then plays.
configs/grid has the sweeps that are published.

Cells are matches with a record each, so a sweep that was stopped goes on, more deals go on where
fewer ended, and sweeps share what they have in common. Before the first cell is played the players
of all are made: settings that cannot be used, or that change nothing, end the sweep at once. The
result has `cells`: values, what the record says, the difference to the first cell paired by deal
where both played the same deals, and if `sample_size` is set, the effective sample size of the
scenarios in fixed positions. Beside it are <name>.csv, <name>.png and, for two
settings, <name>_heat.png.
"""

import copy
import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from typing import Any

import jax
import numpy as np
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

from experiments.common.cli import (
    Result,
    choose_devices,
    experiment,
    flat,
    load_settings,
    open_config,
    to_settings,
)
from experiments.common.launchers import HERE, LauncherSettings, launch_all
from experiments.common.plots import plot_heat, plot_lines
from experiments.common.results import Workplace
from experiments.common.settings import PlaySettings
from experiments.compare import play_all
from experiments.train import TrainSettings, run_side_by_side, run_training
from gongzhu_jax.checkpoint import Checkpoints
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation.fingerprint import fixed_positions, json_digest, program_digest
from gongzhu_jax.evaluation.match_records import MatchRecord
from gongzhu_jax.evaluation.recorder import Recorder
from gongzhu_jax.evaluation.stats import paired_difference
from gongzhu_jax.inference.decision import effective_sample_size
from gongzhu_jax.players import Player, registry
from gongzhu_jax.players.scrofazero import SearchAct, compiled_decide
from gongzhu_jax.training.runs import recipe

MULTIRUN = ("-m", "--multirun")
"""Flags of Hydra's own sweeps: here they say nothing new."""


@dataclass(frozen=True, kw_only=True)
class SweepSettings(PlaySettings):
    name: str
    title: str | None
    player: str  # a player by name, or module:function for your own
    opponent: str  # the player of the other team, named in the same way
    checkpoint: str | None
    scenarios: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, Any] = field(default_factory=dict)
    search: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    opponent_options: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    swept: dict[str, list[Any]] = field(default_factory=dict)
    sample_size: bool
    launcher: LauncherSettings = field(default_factory=LauncherSettings)


@dataclass(frozen=True)
class Cell:
    """One combination."""

    values: Mapping[str, Any]
    settings: SweepSettings

    @property
    def label(self) -> str:
        return ", ".join(str(value) for value in self.values.values()) or "as set"


def gather_swept(words: Sequence[str]) -> list[str]:
    """The arguments with all `key=1,2,3` put into the one setting `swept`."""
    same, swept = [], []
    kept = [word for word in words if word not in MULTIRUN]
    flags = [word for word in kept if word.startswith("-")]
    for override in OverridesParser.create().parse_overrides([w for w in kept if w not in flags]):
        if override.is_sweep_override():
            values = ",".join(override.sweep_string_iterator())
            swept.append(f"{override.key_or_group}:[{values}]")
        else:
            same.append(override.input_line or "")
    return [*flags, *same, *([f"swept={{{','.join(swept)}}}"] if swept else [])]


def make_cells(settings: SweepSettings) -> list[Cell]:
    """All combinations of the swept settings, in the order they are written."""
    known = [field.name for field in fields(settings) if field.name != "swept"]
    for key in settings.swept:
        if key.partition(".")[0] not in known:
            raise ConfigError(f"unknown setting {key!r}; there are {', '.join(known)}")
    cells = []
    for combination in product(*settings.swept.values()):
        values = dict(zip(settings.swept, combination, strict=True))
        config = copy.deepcopy(open_config(settings))
        for key, value in values.items():
            OmegaConf.update(config, key, value)
        cells.append(Cell(values, to_settings(config, SweepSettings)))
    return cells


def make_players(settings: SweepSettings, checkpoint: str | None) -> tuple[Player, Player]:
    parts = {name: getattr(settings, name) for name in ("scenarios", "weights", "search")}
    options = {**{name: part for name, part in parts.items() if part}, **settings.options}
    if checkpoint is not None:
        options["checkpoint"] = checkpoint
    opponent = registry.make(settings.opponent, **settings.opponent_options)
    return registry.make(settings.player, **options), opponent


def training_of(settings: SweepSettings, work: Workplace) -> TrainSettings | None:
    """How the network of a cell is trained, if it is."""
    if not settings.training:
        return None
    changes = [f"{key}={value}" for key, value in flat(settings.training)]
    directory = work.runs / "sweeps" / "networks" / json_digest(sorted(changes), 16)
    arguments = [*changes, f"directory={directory}", "evaluate_deals=0"]
    training = load_settings("train", TrainSettings, arguments)
    if training.seeds > 1:
        raise ConfigError("a cell has one network: sweep training.seed, not training.seeds")
    return training


def train_together(cells: Sequence[Cell], work: Workplace) -> None:
    """Trains networks whose recipes differ in seeds and numbers only in one program, as far as they
    have got equally far; cells train those that are left by themselves."""
    groups: dict[Any, dict[str, TrainSettings]] = {}
    for cell in cells:
        training = training_of(cell.settings, work)
        if training is not None:
            done = Checkpoints(training.directory).epochs()
            same = (recipe(training.training()), training.start, training.schedule, done)
            if not done or done[-1] < training.epochs:
                groups.setdefault(repr(same), {})[training.directory] = training
    for group in groups.values():
        if len(group) > 1 and not run_side_by_side(list(group.values()), work.command):
            raise KeyboardInterrupt  # networks that are not finished must not play


def check(cells: Sequence[Cell], work: Workplace) -> None:
    """Makes the players of all cells: a wrong one should be known before hours of others."""
    seen: dict[str, Cell] = {}
    for cell in cells:
        training = training_of(cell.settings, work)
        if training is not None:
            training.training()
        player, opponent = make_players(cell.settings, cell.settings.checkpoint)
        deals = cell.settings.choose_deals().identity
        decisive = [deals, cell.settings.deals, cell.settings.seed, cell.settings.rotations]
        programs = [program_digest(player), program_digest(opponent)]
        name = json_digest([*decisive, *programs, cell.settings.training])
        if name in seen:
            other = seen[name]
            keys = [key for key, value in cell.values.items() if other.values[key] != value]
            raise ConfigError(
                f"{', '.join(keys)} changes nothing: {cell.settings.player} does not use it as it "
                f"is set ({other.label} and {cell.label} are the same match)"
            )
        seen[name] = cell


def play_cell(cell: Cell, work: Workplace) -> tuple[MatchRecord, float | None]:
    """The record of a cell, and the effective sample size of its scenarios if that is wanted."""
    checkpoint = cell.settings.checkpoint
    training = training_of(cell.settings, work)
    if training is not None:
        rows = run_training(training, work.command)
        if rows[-1]["epoch"] < training.epochs:
            raise KeyboardInterrupt  # a network that is not finished must not play
        checkpoint = training.directory
    players = make_players(cell.settings, checkpoint)
    record = play_all({cell.label: players}, cell.settings, work)[cell.label]
    return record, sample_size(players[0]) if cell.settings.sample_size else None


def sample_size(player: Player) -> float | None:
    """Mean effective sample size of a searching player's scenarios in the fixed positions."""
    act = player.act_batch
    if not isinstance(act, SearchAct):
        return None
    _, views, keys, _ = fixed_positions()
    weight = compiled_decide(act)(player.params, keys, views).weight
    return float(np.mean(jax.vmap(effective_sample_size)(weight)))


def play_in_process(cell: Cell, recorder: Recorder) -> tuple[MatchRecord, float | None]:
    """One cell in a process of a launcher."""
    choose_devices()
    command = recorder.provenance["command"]
    work = Workplace(command, cell.settings.publish, cell.settings.allow_changes)
    work.recorder = replace(recorder, provenance=work.provenance)
    return play_cell(cell, work)


def run(settings: SweepSettings, work: Workplace) -> Result:
    cells = make_cells(settings)
    check(cells, work)
    here = settings.launcher.name == HERE
    if here:
        train_together(cells, work)
    play = play_cell if here else play_in_process
    calls = [(cell, work if here else work.recorder) for cell in cells]
    keep = work.recorder.store.keep
    played = launch_all(settings.launcher, play, calls, "cells", lambda done: keep(done[0]))
    first = played[0][0]
    rows = []
    for cell, (record, size) in zip(cells, played, strict=True):
        row: dict[str, Any] = {"label": cell.label, "values": dict(cell.values)}
        row["match"] = record.summary()
        if size is not None:
            row["effective_sample_size"] = size
        same_deals = record.identity["deals"] == first.identity["deals"]
        if record is not first and same_deals and len(record.margins) == len(first.margins) > 1:
            over = paired_difference(record.margins, first.margins)
            row["over_first"] = {"value": over.mean, "error": over.standard_error}
        rows.append(row)
    return {
        "name": settings.name,
        "title": settings.title or settings.name,
        "player": settings.player,
        "opponent": settings.opponent,
        "keys": list(settings.swept) or ["as set"],
        "cells": rows,
    }


def draw(result: Result, folder: Path) -> None:
    """Pictures, and the table as CSV."""
    figures = ("mean", "standard_error", "win_rate", "draw_rate", "deals", "seed", "set")
    rows = [
        {
            **cell["values"],
            **{name: cell["match"][name] for name in figures if name not in cell["values"]},
            "effective_sample_size": cell.get("effective_sample_size"),
            "commits": " ".join(cell["match"]["commits"]),
        }
        for cell in result["cells"]
    ]
    stem = folder / result["name"]
    varied = [key for key in result["keys"] if len({str(row.get(key)) for row in rows}) > 1]
    about = f"{result['player']} over {result['opponent']}, {rows[0]['deals']} deals"
    if varied:
        plot_lines(rows, varied, about, stem.with_suffix(".png"))
    if len(varied) == 2:
        plot_heat(rows, varied, about, stem.with_name(f"{stem.name}_heat.png"))
    with stem.with_suffix(".csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


main = experiment("sweep", SweepSettings, run, draw, rewrite=gather_swept)

if __name__ == "__main__":
    raise SystemExit(main())
