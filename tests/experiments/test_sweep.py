"""Sweeps: all cells, the same numbers as single runs, kept and gathered."""

import csv
import importlib.util
import json
import multiprocessing
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import pytest
from omegaconf import OmegaConf

from experiments import comparison, sweep
from gongzhu_jax import players
from gongzhu_jax.evaluation import play_match, standard_deals
from gongzhu_jax.network.policy_value import NetworkConfig, make
from gongzhu_jax.network.weights import save_weights
from tests.evaluation.simple_players import high_player, mixed_player, random_player

PLAY = ("deals=4", "batch=4", "chunk=null")
GRID = ("weights.beta=0,0.1", "search.per_legal=1,2", "search.base=0")


@pytest.fixture
def simple_players(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Players that compile fast and differ by their options."""

    def simple(name: str, **options: Any) -> players.Player:
        chosen = high_player if options.get("weights", {}).get("beta") else mixed_player
        chosen = random_player if name == "greed" else chosen
        return replace(chosen, name=name, config=sorted(options.items()))

    monkeypatch.setattr(players, "make", simple)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("simple_players")
def test_all_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    folder = f"folder={tmp_path}"
    assert sweep.main(["-m", *GRID, folder, "name=grid", *PLAY]) == 0
    rows = json.loads((tmp_path / "grid" / "table.json").read_text())
    assert [(row["weights.beta"], row["search.per_legal"]) for row in rows] == [
        *((0, 1), (0.1, 1), (0, 2), (0.1, 2))
    ]
    deals = standard_deals("development", 4)
    plain = play_match(mixed_player, random_player, deals, batch=4)
    high = play_match(high_player, random_player, deals, batch=4)
    means = [plain.mean, high.mean, plain.mean, high.mean]
    assert [row["mean"] for row in rows] == pytest.approx(means)
    over = high.mean - plain.mean
    assert [row["over_first"] for row in rows] == pytest.approx([0, over, 0, over])
    with (tmp_path / "grid" / "table.csv").open() as file:
        assert [float(row["mean"]) for row in csv.DictReader(file)] == pytest.approx(means)
    for picture in ("lines.png", "heat.png"):
        assert (tmp_path / "grid" / picture).stat().st_size > 5000

    # One cell alone gives the same number; a sweep again plays nothing.
    alone = ["weights.beta=0.1", "search.per_legal=2", "search.base=0"]
    assert sweep.main([*alone, folder, "name=one", *PLAY]) == 0
    (path,) = (tmp_path / "one" / "cells").glob("*.json")
    assert json.loads(path.read_text())["mean"] == pytest.approx(high.mean)

    def fail(*args: Any, **options: Any) -> None:
        raise AssertionError("it was played before")

    monkeypatch.setattr(comparison, "play_match", fail)
    assert sweep.main(["-m", *GRID, folder, "name=grid", *PLAY]) == 0


@pytest.mark.usefixtures("simple_players")
def test_stopped_sweep_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played = []

    def play(*args: Any, **options: Any) -> Any:
        played.append(args)
        if len(played) == 2:
            raise KeyboardInterrupt
        return play_match(*args, **options)

    monkeypatch.setattr(comparison, "play_match", play)
    line = ["-m", *GRID, f"folder={tmp_path}", "name=grid", *PLAY]
    assert sweep.main(line) == 130
    assert len(played) == 2  # the cells after it were not started
    assert len(json.loads((tmp_path / "grid" / "table.json").read_text())) == 1
    assert sweep.main(line) == 0
    assert len(played) == 2 + 3
    assert len(json.loads((tmp_path / "grid" / "table.json").read_text())) == 4


def test_bad_settings(tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    common = [f"folder={tmp_path}", "player=raw", "checkpoint=none.safetensors", *PLAY]

    def error(*words: str) -> str:
        assert sweep.main([*common, *words]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        return line

    assert "has no option 'weights.betta'" in error("-m", "weights.betta=0,1", "checkpoint=null")
    assert "unknown setting 'weight'" in error("-m", "weight.beta=0,1", "checkpoint=null")
    assert "cannot read weights" in error("-m", "scenarios.draws=2,3")
    assert "unknown setting 'beta'" in error("-m", "beta=0,1")
    assert "set must be one of" in error("-m", "scenarios.draws=2,3", "set=some")
    assert "only scenarios, weights, search, greed" in error("-m", "deals=2,3", "checkpoint=null")
    assert "epochz" in error("-m", "training.epochz=2,3", "checkpoint=null")
    assert "1 epoch" in error("-m", "training.epochs=0,-1", "checkpoint=null")
    assert "at least 1" in error("-m", "scenarios.draws=2,3", "deals=0", "checkpoint=null")
    assert "launcher must be hydra or ray" in error("-m", "scenarios.draws=2,3", "launcher=rai")
    assert "unknown player" in error("player=rau", "checkpoint=null")
    assert not (tmp_path / "sweep").exists()  # found before the first cell was played


@pytest.mark.usefixtures("simple_players")
def test_cells_that_failed_elsewhere(
    tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Launchers do not bring exit codes back."""
    monkeypatch.setattr(sweep, "run_cell", lambda arguments: 0)
    assert sweep.main(["-m", *GRID, f"folder={tmp_path}", *PLAY]) == 2
    assert "4 of 4 cells failed" in capsys.readouterr().err


def test_processes_take_different_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for name in ("MainProcess", "LokyProcess-1", "LokyProcess-2", "LokyProcess-3"):
        monkeypatch.setattr(multiprocessing.current_process(), "name", name)
        found.append(OmegaConf.create({"gpu": "${worker:2}"}).gpu)
    assert found == [0, 0, 1, 0]


class Sweeps:
    """Sweeps as processes, with a network that compiles fast."""

    def __init__(self, folder: Path):
        small = NetworkConfig("compact", stem=16, width=8, blocks=1)
        weights = folder / "small.safetensors"
        save_weights(weights, small, make(small).init(jax.random.key(0)), {})
        self.folder = folder
        self._common = [f"folder={folder}", f"checkpoint={weights}", "deals=4", "batch=4"]
        # What was compiled for one cell serves the same cell elsewhere.
        cache = {"JAX_COMPILATION_CACHE_DIR": str(jax.config.values["jax_compilation_cache_dir"])}
        self._environment = os.environ | cache

    def run(self, *words: str) -> None:
        line = [sys.executable, "-m", "experiments.sweep", *words, *self._common]
        subprocess.run(line, check=True, env=self._environment)

    def table(self, name: str) -> list[dict[str, Any]]:
        return json.loads((self.folder / name / "table.json").read_text())

    def alone(self, values: dict[str, Any]) -> float:
        """What a cell has if it is run as one command."""
        self.run(*(f"{key}={value}" for key, value in values.items()), "name=single")
        (path,) = (self.folder / "single" / "cells").glob("*.json")
        found = json.loads(path.read_text())["mean"]
        path.unlink()
        return found


KEYS = ("weights.beta", "search.per_legal", "search.base")


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["basic", "joblib"])
def test_three_by_three_for_real(tmp_path: Path, launcher: str) -> None:
    sweeps = Sweeps(tmp_path)
    values = ("weights.beta=0,0.05,0.5", "search.per_legal=1,2,3", "search.base=0")
    sweeps.run("-m", f"hydra/launcher={launcher}", *values, "name=grid")
    rows = sweeps.table("grid")
    assert len(rows) == 9
    assert (tmp_path / "grid" / "heat.png").is_file()
    for row in (rows[0], rows[4], rows[8]):
        assert sweeps.alone({key: row[key] for key in KEYS}) == row["mean"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("launcher", "package"),
    [
        ("launcher=ray", "ray"),
        ("hydra/launcher=submitit_local", "hydra_plugins.hydra_submitit_launcher"),
    ],
)
def test_launchers_of_extras_for_real(tmp_path: Path, launcher: str, package: str) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    sweeps = Sweeps(tmp_path)
    values = ["player=policy", "inference.inputs=onehot"]  # without search: quick to compile
    values += ["scenarios.draws=1,2", "greed.samples=1,2"]
    sweeps.run("-m", *values, "name=here")
    sweeps.run("-m", launcher, *values, "name=there")
    here, there = ([row["mean"] for row in sweeps.table(name)] for name in ("here", "there"))
    assert len(here) == 4
    assert here == there
