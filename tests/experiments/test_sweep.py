"""Sweeps: all cells, the same numbers as single runs, kept and gathered."""

import csv
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import pytest

from experiments import comparison, sweep
from gongzhu_jax import players
from gongzhu_jax.evaluation import play_match, standard_deals
from gongzhu_jax.network.registry import NetworkConfig, make
from gongzhu_jax.network.weights import save_weights
from tests.evaluation.simple_players import high_player, mixed_player, random_player

PLAY = ("deals=4", "batch=4", "chunk=null")
GRID = ("inference.beta=0,0.1", "search.per_legal=1,2")


@pytest.fixture
def simple_players(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Players that compile fast and differ by their options."""

    def simple(name: str, **options: Any) -> players.Player:
        chosen = high_player if options.get("beta") else mixed_player
        chosen = random_player if name == "greed" else chosen
        return replace(chosen, name=name, config=sorted(options.items()))

    monkeypatch.setattr(players, "make", simple)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("simple_players")
def test_all_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    folder = f"folder={tmp_path}"
    assert sweep.main(["-m", *GRID, folder, "name=grid", *PLAY]) == 0
    rows = json.loads((tmp_path / "grid" / "table.json").read_text())
    assert [(row["inference.beta"], row["search.per_legal"]) for row in rows] == [
        *((0, 1), (0, 2), (0.1, 1), (0.1, 2))
    ]
    deals = standard_deals("development", 4)
    plain = play_match(mixed_player, random_player, deals, batch=4)
    high = play_match(high_player, random_player, deals, batch=4)
    means = [plain.mean, plain.mean, high.mean, high.mean]
    assert [row["mean"] for row in rows] == pytest.approx(means)
    over = high.mean - plain.mean
    assert [row["over_first"] for row in rows] == pytest.approx([0, 0, over, over])
    with (tmp_path / "grid" / "table.csv").open() as file:
        assert [float(row["mean"]) for row in csv.DictReader(file)] == pytest.approx(means)
    for picture in ("lines.png", "heat.png"):
        assert (tmp_path / "grid" / picture).stat().st_size > 5000

    # One cell alone gives the same number; a sweep again plays nothing.
    assert sweep.main(["inference.beta=0.1", "search.per_legal=2", folder, "name=one", *PLAY]) == 0
    (path,) = (tmp_path / "one" / "cells").glob("*.json")
    assert json.loads(path.read_text())["mean"] == pytest.approx(high.mean)

    def fail(*args: Any, **options: Any) -> None:
        raise AssertionError("it was played before")

    monkeypatch.setattr(comparison, "play_match", fail)
    assert sweep.main(["-m", *GRID, folder, "name=grid", *PLAY]) == 0


def test_bad_settings(tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["-m", "inference.betta=0,1", f"folder={tmp_path}", "player=raw", *PLAY]
    assert sweep.main([*arguments, "checkpoint=none.safetensors"]) == 2
    assert "has no option 'betta'" in capsys.readouterr().err
    arguments[1] = "inference.draws=2,3"
    assert sweep.main([*arguments, "checkpoint=none.safetensors"]) == 2
    assert "cannot read weights" in capsys.readouterr().err
    assert sweep.main(["player=rau", f"folder={tmp_path}", *PLAY]) == 2
    assert "unknown player" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["basic", "joblib"])
def test_three_by_three_for_real(tmp_path: Path, launcher: str) -> None:
    small = NetworkConfig("compact", stem=16, width=8, blocks=1)
    weights = tmp_path / "small.safetensors"
    save_weights(weights, small, make(small).init(jax.random.key(0)), {})
    common = [f"folder={tmp_path}", f"checkpoint={weights}", "deals=4", "batch=4", "search.base=0"]

    def run(*words: str) -> None:
        subprocess.run([sys.executable, "-m", "experiments.sweep", *words, *common], check=True)

    values = ("inference.beta=0,0.05,0.5", "search.per_legal=1,2,3")
    run("-m", f"hydra/launcher={launcher}", *values, "name=grid")
    rows = json.loads((tmp_path / "grid" / "table.json").read_text())
    assert len(rows) == 9
    for row in (rows[0], rows[4], rows[8]):
        chosen = [f"{key}={row[key]}" for key in ("inference.beta", "search.per_legal")]
        run(*chosen, "name=single")
    singles = [
        json.loads(path.read_text()) for path in (tmp_path / "single" / "cells").glob("*.json")
    ]
    assert len(singles) == 3
    for single in singles:
        (same,) = (row for row in rows if single["values"].items() <= row.items())
        assert same["mean"] == single["mean"]
