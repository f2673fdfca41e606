"""Sweeps: matches over a grid, with the same records as everything else."""

import csv
import importlib.util
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from experiments import sweep, train
from experiments.common.cli import load_settings
from experiments.common.provenance import ROOT
from experiments.common.results import Workplace
from experiments.common.tracking import read_log
from gongzhu_jax.checkpoint import Checkpoints
from gongzhu_jax.evaluation import play_match, recorder
from gongzhu_jax.evaluation.deal_sets import choose_deals
from gongzhu_jax.network.weights import load_weights
from tests.evaluation.simple_players import high_player, mixed_player, random_player

PLAY = ("deals=4", "batch=4", "chunk=null")


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Players of different options count as different ones, though few play differently."""
    monkeypatch.setattr(sweep, "program_digest", lambda player: f"{player.name} {player.config}")


def cells(folder: Path, name: str = "grid") -> list[dict[str, Any]]:
    return json.loads((folder / "runs" / f"{name}.json").read_text())["result"]["cells"]


def margins(player, opponent=random_player, seed: int = 0, count: int = 4) -> np.ndarray:
    deals = choose_deals("development-1", count).deals
    return play_match(player, opponent, deals, seed=seed, batch=4).margins


@pytest.mark.usefixtures("simple_players", "programs")
def test_all_cells(places: Path, capsys) -> None:
    line = ["-m", "weights.beta=0,0.1", "search.per_legal=1,2", "name=grid", *PLAY]
    assert sweep.main(line) == 0
    rows = cells(places)
    assert [tuple(row["values"].values()) for row in rows] == [(0, 1), (0, 2), (0.1, 1), (0.1, 2)]
    plain, high = margins(mixed_player), margins(high_player)
    expected = [plain.mean(), plain.mean(), high.mean(), high.mean()]
    assert [row["match"]["mean"] for row in rows] == pytest.approx(expected)
    assert "over_first" not in rows[0]
    assert rows[2]["over_first"]["value"] == pytest.approx((high - plain).mean())
    error = (high - plain).std(ddof=1) / 2
    assert rows[3]["over_first"]["error"] == pytest.approx(error)
    with (places / "runs" / "grid.csv").open() as file:
        assert [float(row["mean"]) for row in csv.DictReader(file)] == pytest.approx(expected)
    for picture in ("grid.png", "grid_heat.png"):
        assert (places / "runs" / picture).stat().st_size > 5000
    capsys.readouterr()
    assert sweep.main([*line, "deals=6"]) == 0  # more deals go on where fewer ended
    assert capsys.readouterr().err.count("4 of 6 deals are on record") == 4


@pytest.mark.usefixtures("simple_players", "programs")
def test_everything_can_be_swept(places: Path) -> None:
    """Two sweeps of one name do not mix: cells are named by all that decides them."""
    line = ["seed=0,1", "player=scrofa,if", "opponent=greed,raw", "name=grid", *PLAY]
    assert sweep.main(line) == 0
    made = {"scrofa": mixed_player, "if": high_player, "greed": random_player, "raw": mixed_player}
    for row in cells(places):
        values = row["values"]
        expected = margins(made[values["player"]], made[values["opponent"]], values["seed"])
        assert row["match"]["mean"] == pytest.approx(expected.mean())
    assert len({row["match"]["match"] for row in cells(places)}) == 8
    assert sweep.main(["checkpoint=a,b", "set=development-1,development-2", *line[3:]]) == 0
    rows = cells(places)
    assert [row["match"]["set"] for row in rows] == ["development-1", "development-2"] * 2
    assert "over_first" in rows[2]
    assert "over_first" not in rows[1]  # other deals are not paired


@pytest.mark.usefixtures("simple_players", "programs")
def test_stopped_sweep_goes_on(places: Path, monkeypatch, capsys) -> None:
    stopped = []
    play = recorder.Recorder.play

    def stop_once(self, name, *args, **options):
        if name == "2" and not stopped:
            stopped.append(name)
            raise KeyboardInterrupt
        return play(self, name, *args, **options)

    monkeypatch.setattr(recorder.Recorder, "play", stop_once)
    line = ["search.per_legal=1,2,3", "name=grid", *PLAY]
    assert sweep.main(line) == 130
    assert "1 of 3 cells are finished and kept" in capsys.readouterr().err
    assert sweep.main(line) == 0
    assert "1: 4 of 4 deals are on record" in capsys.readouterr().err


def test_bad_settings(places: Path, capsys) -> None:
    def error(*words: str) -> str:
        assert sweep.main([*PLAY, *words]) == 2
        return capsys.readouterr().err.strip().splitlines()[-1]

    raw = "player=raw"
    assert "has no option 'weights.betta'" in error(raw, "weights.betta=0,1")
    assert "cannot read weights" in error(raw, "scenarios.draws=2,3", "checkpoint=no.safetensors")
    assert "unknown setting 'beta'; there are" in error("beta=0,1")
    assert "set must be one of" in error(raw, "set=some,other")
    assert "epochz" in error(raw, "training.epochz=2,3")
    assert "1 epoch" in error(raw, "training.epochs=0,-1")
    assert "sweep training.seed, not" in error(raw, "training.epochs=1,2", "training.seeds=2")
    assert "at least 1" in error(raw, "scenarios.draws=2,3", "deals=0")
    assert "launcher.name must be one of here" in error(raw, "seed=1,2", "launcher.name=rai")
    shared = ("launcher.name=submitit", "launcher.gpus=0.5")
    assert "only Ray shares a GPU" in error(raw, "seed=1,2", *shared)
    assert "unknown player 'rau'" in error("player=rau,raw")
    assert "must be a number, not nan" in error(raw, "weights.beta=0,nan")
    # Numbers that the player does not use, as it is set, and cells that are the same.
    assert "weights.beta changes nothing: raw does not use it" in error(raw, "weights.beta=0,0.1")
    assert "weights.slices changes nothing" in error(raw, "weights.slices=every,important")
    assert not (places / "runs" / "records").exists()  # before the first cell was played


def test_numbers_that_are_used_can_be_swept() -> None:
    words = ["player=raw", "scenarios.draws=2,3", "search.base=0,4", *PLAY]
    settings = load_settings("sweep", sweep.SweepSettings, sweep.gather_swept(words))
    sweep.check(sweep.make_cells(settings), Workplace("a test"))


@pytest.mark.parametrize("grid", ["beta", "simulations", "scenarios"])
def test_published_grids(grid: str) -> None:
    settings = load_settings("sweep", sweep.SweepSettings, [f"grid={grid}"])
    assert settings.name == f"curve_{grid}"
    made = sweep.make_cells(settings)
    assert len(made) > 3
    (key,) = settings.swept
    part, _, option = key.partition(".")
    assert [getattr(cell.settings, part)[option] for cell in made] == settings.swept[key]


TRAINING = [
    *("training.preset=smoke", "training.epochs=2", "training.selfplay.games=8"),
    *("training.learner.minibatch=104", "training.network.stem=8", "training.network.width=8"),
]
ROW = {"epoch": 2, "games": 16, "seconds": 1.0}


def trained_cells(*words: str) -> tuple[list[sweep.Cell], Workplace]:
    settings = load_settings("sweep", sweep.SweepSettings, sweep.gather_swept([*TRAINING, *words]))
    return sweep.make_cells(settings), Workplace("a test")


def test_networks_of_equal_recipes_are_trained_side_by_side(places: Path, monkeypatch) -> None:
    """Each gets its own log; those of another shape, or further on, do not take part."""
    called: list[list[tuple[int, float]]] = []

    def in_place_of_training(configs, mesh, folder, schedule, params, **options):
        called.append([(c.seed, c.learner.value_weight) for c in configs.values()])
        options["on_start"]({"epoch": 0})
        losses = {f"loss_{name}": c.learner.value_weight for name, c in configs.items()}
        options["on_epoch"](ROW | {"loss": 0.0, "loss_stderr": 0.0, **losses})
        return type("State", (), {"epoch": 2})

    monkeypatch.setattr(train, "train_runs", in_place_of_training)
    monkeypatch.setattr(train, "plot_training", lambda *curve: None)
    weights = ("training.learner.value_weight=0.1,0.2", "training.seed=0,1")
    made, work = trained_cells(*weights, "training.selfplay.games=8,16")
    done = sweep.training_of(made[0].settings, work)
    assert done is not None
    monkeypatch.setattr(
        Checkpoints, "epochs", lambda self: [1] if str(self.directory) == done.directory else []
    )
    further = sweep.training_of(made[2].settings, work)  # as a stretch alone may have left it
    assert further is not None
    Path(further.directory).mkdir(parents=True)
    (Path(further.directory) / "log.jsonl").write_text('{"epoch": 1}\n{"epoch": 2}\n')
    sweep.train_together(made, work)
    assert called == [[(0, 0.1), (1, 0.1), (0, 0.2), (1, 0.2)], [(1, 0.1), (0, 0.2), (1, 0.2)]]
    for cell in made[1:]:
        training = sweep.training_of(cell.settings, work)
        assert training is not None
        *before, row = read_log(Path(training.directory) / "log.jsonl")
        assert before == ([{"epoch": 1}] if training == further else [])
        assert row == {**ROW, "loss": training.learner.value_weight}


@pytest.mark.slow
@pytest.mark.usefixtures("simple_players", "programs")
def test_networks_trained_side_by_side_are_those_trained_alone(places: Path, monkeypatch) -> None:
    words = ("training.learner.learning_rate=0.01,0.02", "name=grid", *PLAY)
    assert sweep.main([*TRAINING, *words]) == 0
    made, work = trained_cells(*words)
    monkeypatch.setattr(train, "train_runs", None)
    for number, cell in enumerate(made):
        training = sweep.training_of(cell.settings, work)
        assert training is not None
        _, together = load_weights(training.directory)
        alone = replace(training, directory=str(places / f"alone-{number}"))
        rows = train.run_training(alone, "a test")
        for one, other in zip(rows, read_log(Path(training.directory) / "log.jsonl"), strict=True):
            assert one.keys() == other.keys()
            assert one["loss"] == pytest.approx(other["loss"], rel=1e-4)
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5),
            *(together, load_weights(alone.directory)[1]),
        )


LAUNCHERS = ("submitit", "ray")


@pytest.mark.slow
@pytest.mark.parametrize("name", LAUNCHERS)
def test_launchers(name: str, tmp_path: Path) -> None:
    """What real processes elsewhere played is kept, and known to the next sweep here."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    for folder in ("experiments", "configs", "gongzhu_jax"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    line = [sys.executable, "-m", "experiments.sweep", "player=if,greed", "opponent=random"]
    line += ["deals=4", "batch=4", f"launcher.name={name}", f"launcher.folder={tmp_path}/logs"]
    subprocess.run(line, cwd=tmp_path, check=True)
    line += ["launcher.name=here"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr.count("4 of 4 deals are on record") == 2


def test_a_launcher_that_is_not_installed(capsys, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert sweep.main(["player=if,random", "opponent=random", "launcher.name=ray", *PLAY]) == 2
    assert "pip install 'gongzhu_jax[ray]'" in capsys.readouterr().err
