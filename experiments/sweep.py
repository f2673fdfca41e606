"""Sweeps of settings: `python -m experiments.sweep -m weights.beta=0,0.015 search.per_legal=1,2`.

Every cell, one combination, is a match of the player so set against two Mr. Greeds on the same
deals. What is swept is any option of the player (`scenarios.*`, `weights.*`, `search.*`, see
`gongzhu_jax.players.option_names`), of Mr. Greed (`greed.samples`), or of training (`training.*`,
the settings of `experiments.train`: a network is trained for the cell, then plays).

Cells that differ in numbers that programs take as arguments (beta, powers, exploration) share one
compiled program. Before the first cell is played, all are tried: settings that cannot be used end
the sweep at once. A finished cell is kept: a sweep that was stopped goes on when it is started
again. At the end results/sweeps/<name>/ has table.csv, table.json (values of the cell, points with
standard error, win and draw rate, difference to the first cell paired by deal), lines.png and, for
two settings, heat.png.
"""

import csv
import hashlib
import io
import json
import multiprocessing
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np
from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf

from experiments.cli import BAD_SETTINGS, DONE, INTERRUPTED, command, load_settings
from experiments.comparison import Pairing, compare
from experiments.plots import plot_heat, plot_lines
from experiments.ray_launcher import RaySettings, require_ray, run_on_ray
from experiments.results import RESULTS, commit, points, print_table
from experiments.settings import PlaySettings
from experiments.train import TrainSettings, run_training
from gongzhu_jax import players
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation import paired_difference
from gongzhu_jax.files import write_whole
from gongzhu_jax.players import Player

SWEPT = ("scenarios", "weights", "search", "greed", "training")
MULTIRUN = ("-m", "--multirun")
LAUNCHERS = ("hydra", "ray")
ELSEWHERE = ("hydra/launcher=", "launcher=ray")


@dataclass(frozen=True, kw_only=True)
class SweepSettings(PlaySettings):
    name: str
    folder: str | None
    player: str
    checkpoint: str | None
    launcher: str
    ray: RaySettings = field(default_factory=RaySettings)
    scenarios: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, Any] = field(default_factory=dict)
    search: dict[str, Any] = field(default_factory=dict)
    greed: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.launcher not in LAUNCHERS:
            known = " or ".join(LAUNCHERS)
            raise ConfigError(f"launcher must be {known}, not {self.launcher!r}")

    @property
    def directory(self) -> Path:
        base = RESULTS / "sweeps" if self.folder is None else Path(self.folder)
        return base / self.name


_stopped: list[bool] = []
"""Not empty after Ctrl-C, which ends one cell: Hydra would go on with the next one."""


@command("sweep", SweepSettings)
def run_cell(settings: SweepSettings, line: str) -> int:
    """One cell."""
    if _stopped:
        return INTERRUPTED
    try:
        return _play_cell(settings, line)
    except KeyboardInterrupt:
        _stopped.append(True)
        raise


def _play_cell(settings: SweepSettings, line: str) -> int:
    values = _swept(HydraConfig.get().overrides.task)
    checkpoint = settings.checkpoint
    if settings.training:
        directory, training = _training(settings)
        rows = run_training(training, line)
        if rows[-1]["epoch"] < training.epochs:
            raise KeyboardInterrupt  # a network that is not finished must not play
        checkpoint = str(directory)
    name = ", ".join(f"{key} {value}" for key, value in values.items()) or "as set"
    pairing = Pairing(name, *_players(settings, checkpoint))
    comparison = compare([pairing], settings, settings.directory / "parts")
    cell = {
        "values": values,
        "command": line,
        "commit": commit(),
        "config": asdict(settings),
        **comparison.rows[name],
        "margins": comparison.margins[name].tolist(),
    }
    path = _cell_path(settings.directory, values)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(cell).encode())
    print(f"{name}: {points(cell)}")
    return DONE


def _players(settings: SweepSettings, checkpoint: str | None) -> tuple[Player, Player]:
    """The player of the cell and its opponent."""
    groups = {name: getattr(settings, name) for name in ("scenarios", "weights", "search")}
    options: dict[str, Any] = {name: group for name, group in groups.items() if group}
    if checkpoint is not None:
        options["checkpoint"] = checkpoint
    return players.make(settings.player, **options), players.make("greed", **settings.greed)


def _cell_path(directory: Path, values: Mapping[str, Any]) -> Path:
    identity = hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]
    return directory / "cells" / f"{identity}.json"


def _swept(overrides: Sequence[str]) -> dict[str, Any]:
    """The settings of this cell that can be swept, from the overrides on its command line."""
    found = {}
    for override in overrides:
        key, _, value = override.lstrip("+").partition("=")
        if key.split(".")[0] in SWEPT:
            found[key] = OmegaConf.create({"value": _plain(value)})["value"]
    return found


def _plain(text: str) -> Any:
    """A value as YAML would read it."""
    return OmegaConf.to_container(OmegaConf.from_dotlist([f"value={text}"]))["value"]  # ty: ignore


def _training(settings: SweepSettings) -> tuple[Path, TrainSettings]:
    """The folder of the cell's network and how it is trained."""
    changes = [f"{key}={value}" for key, value in _flat(settings.training)]
    identity = hashlib.sha256(" ".join(sorted(changes)).encode()).hexdigest()[:16]
    directory = settings.directory / "runs" / identity
    arguments = [*changes, f"directory={directory}", "evaluate_deals=0"]
    return directory, load_settings("train", TrainSettings, arguments)


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def gather(directory: Path) -> list[dict[str, Any]]:
    """All finished cells of a sweep as a table, in order of their values; also as files and
    pictures."""
    cells = [json.loads(path.read_text()) for path in sorted((directory / "cells").glob("*.json"))]
    keys = sorted({key for cell in cells for key in cell["values"]})
    cells.sort(key=lambda cell: [_order(cell["values"].get(key)) for key in keys])
    first = np.array(cells[0]["margins"])
    rows = []
    for cell in cells:
        row = {key: cell["values"].get(key) for key in keys}
        row |= {name: cell[name] for name in ("mean", "standard_error", "win_rate", "draw_rate")}
        margins = np.array(cell["margins"])
        if len(margins) == len(first):
            over = paired_difference(margins, first)
            row |= {"over_first": over.mean, "over_first_standard_error": over.standard_error}
        rows.append(row | {"deals": cell["deals"], "commit": cell["commit"]})
    write_whole(directory / "table.json", json.dumps(rows, indent=1).encode())
    with (directory / "table.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    varied = [key for key in keys if len({str(row[key]) for row in rows}) > 1]
    if varied:
        plot_lines(rows, varied, directory / "lines.png")
    if len(varied) == 2:
        plot_heat(rows, varied, directory / "heat.png")
    return rows


def _short(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as it fits on a screen; the files have all of it."""
    values = [f"{key.split('.')[-1]} {row[key]}" for key in row if key.split(".")[0] in SWEPT]
    found = {"what": ", ".join(values), "points": points(row)}
    if "over_first" in row:
        over = {"mean": row["over_first"], "standard_error": row["over_first_standard_error"]}
        found["over_first"] = points(over)
    return found


def _order(value: Any) -> tuple[int, Any]:
    """Numbers by size, then everything else by name."""
    return (0, value) if isinstance(value, int | float) else (1, str(value))


def check(arguments: Sequence[str]) -> tuple[int, list[list[str]]]:
    """Makes the players of all cells: a wrong one should be known before hours of others, and
    launchers do not bring the exit codes of their processes back. The command lines of the
    cells."""
    lines: list[list[str]] = []

    @command("sweep", SweepSettings)
    def check_cell(settings: SweepSettings, line: str) -> int:
        words = list(HydraConfig.get().overrides.task)
        if _swept(words) in map(_swept, lines):
            raise ConfigError(f"two cells are the same: only {', '.join(SWEPT)} can be swept")
        lines.append(words)
        if settings.launcher == "ray":
            require_ray()
        if settings.training:
            _training(settings)[1].training()
        settings.draw_deals()
        _players(settings, settings.checkpoint)
        return DONE

    said = io.StringIO()
    with redirect_stderr(said):
        code = check_cell(arguments)
    if code != DONE:  # one line, also where every cell has the same fault
        print(said.getvalue().splitlines()[-1], file=sys.stderr)
    return code, lines


def worker(count: int) -> int:
    """The number of this process among `count` of joblib, so that each takes another GPU."""
    number = re.search(r"\d+$", multiprocessing.current_process().name)
    return (int(number[0]) - 1) % count if number else 0


OmegaConf.register_new_resolver("worker", worker, replace=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """All cells, then the table of those that are finished."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not any(flag in arguments for flag in MULTIRUN):
        return run_cell(arguments)
    if any(word.startswith(ELSEWHERE) and not word.endswith("basic") for word in arguments):
        # Other processes play: this one must not take memory of their GPUs.
        jax.config.update("jax_platforms", "cpu")
    own = [word for word in arguments if not word.lstrip("+~").startswith(("-", "hydra"))]
    code, lines = check(["-m", *own])
    if code != DONE:
        return code
    settings = load_settings("sweep", SweepSettings, lines[0])
    _stopped.clear()
    if settings.launcher == "ray":
        code = run_on_ray("experiments.sweep", "run_cell", lines, settings.ray)
    else:
        code = run_cell(arguments)
    paths = [_cell_path(settings.directory, _swept(line)) for line in lines]
    missing = sum(not path.is_file() for path in paths)
    if missing < len(paths):
        rows = gather(settings.directory)
        print_table("points over two Mr. Greeds", [_short(row) for row in rows])
    if missing and code == DONE:
        print(f"error: {missing} of {len(paths)} cells failed", file=sys.stderr)
        return BAD_SETTINGS
    return code


if __name__ == "__main__":
    sys.exit(main())
