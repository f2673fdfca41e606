"""Sweeps of settings: `python -m experiments.sweep -m inference.beta=0,0.015 search.per_legal=1,2`.

Every cell, one combination, is a match of the player so set against two Mr. Greeds on the same
deals. What is swept is any option of the player (`inference.*` and `search.*`, see
`gongzhu_jax.players.option_names`), of Mr. Greed (`greed.samples`), or of training (`training.*`,
the settings of `experiments.train`: a network is trained for the cell, then plays).

Cells that differ in numbers that programs take as arguments (beta, exploration, temper) share one
compiled program. A finished cell is kept: a sweep that was stopped goes on when it is started
again. At the end results/sweeps/<name>/ has table.csv, table.json (values of the cell, points with
standard error, win and draw rate, difference to the first cell paired by deal), lines.png and, for
two settings, heat.png.
"""

import csv
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf

from experiments.cli import BAD_SETTINGS, DONE, command, load_settings
from experiments.comparison import Pairing, compare
from experiments.plots import plot_heat, plot_lines
from experiments.results import RESULTS, commit, points, print_table
from experiments.settings import PlaySettings
from experiments.train import TrainSettings, run_training
from gongzhu_jax import players
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation import paired_difference
from gongzhu_jax.records import write_whole

SWEPT = ("inference", "search", "greed", "training")
MULTIRUN = ("-m", "--multirun")


@dataclass(frozen=True, kw_only=True)
class SweepSettings(PlaySettings):
    name: str
    folder: str | None
    player: str
    checkpoint: str | None
    inference: dict[str, Any] = field(default_factory=dict)
    search: dict[str, Any] = field(default_factory=dict)
    greed: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)

    @property
    def directory(self) -> Path:
        base = RESULTS / "sweeps" if self.folder is None else Path(self.folder)
        return base / self.name


@command("sweep", SweepSettings)
def run_cell(settings: SweepSettings, line: str) -> int:
    """One cell."""
    values = _swept(HydraConfig.get().overrides.task)
    checkpoint = settings.checkpoint
    if settings.training:
        checkpoint = str(_train(settings, line))
    options = {**settings.inference, **settings.search}
    if checkpoint is not None:
        options["checkpoint"] = checkpoint
    name = ", ".join(f"{key} {value}" for key, value in values.items()) or "as set"
    pairing = Pairing(
        name, players.make(settings.player, **options), players.make("greed", **settings.greed)
    )
    comparison = compare([pairing], settings, settings.directory / "parts")
    cell = {
        "values": values,
        "command": line,
        "commit": commit(),
        "config": asdict(settings),
        **comparison.rows[name],
        "margins": comparison.margins[name].tolist(),
    }
    identity = hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]
    path = settings.directory / "cells" / f"{identity}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(cell).encode())
    print(f"{name}: {points(cell)}")
    return DONE


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


def _train(settings: SweepSettings, line: str) -> Path:
    """Trains the network of the cell, or goes on with it; its folder."""
    changes = [f"{key}={value}" for key, value in _flat(settings.training)]
    identity = hashlib.sha256(" ".join(sorted(changes)).encode()).hexdigest()[:16]
    directory = settings.directory / "runs" / identity
    arguments = [*changes, f"directory={directory}", "evaluate_deals=0"]
    run_training(load_settings("train", TrainSettings, arguments), line)
    return directory


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
    if not cells:
        raise ConfigError(f"there is no finished cell in {directory}")
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
    if keys:
        plot_lines(rows, keys, directory / "lines.png")
    if len(keys) == 2:
        plot_heat(rows, keys, directory / "heat.png")
    return rows


def _order(value: Any) -> tuple[int, Any]:
    """Numbers by size, then everything else by name."""
    return (0, value) if isinstance(value, int | float) else (1, str(value))


def main(arguments: Sequence[str] | None = None) -> int:
    """All cells, then the table of those that are finished."""
    arguments = sys.argv[1:] if arguments is None else arguments
    code = run_cell(arguments)
    if not any(flag in arguments for flag in MULTIRUN) or code == BAD_SETTINGS:
        return code
    chosen = [word for word in arguments if word.startswith(("name=", "folder="))]
    rows = gather(load_settings("sweep", SweepSettings, chosen).directory)
    print_table("points over two Mr. Greeds", rows)
    return code


if __name__ == "__main__":
    sys.exit(main())
