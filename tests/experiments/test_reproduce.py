"""All experiments as one command: it goes on after a stop, and its report has everything."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from experiments import (
    card_statistics,
    card_values,
    comparison,
    input_figures,
    inputs,
    irrelevant_cards,
    reproduce,
    techniques,
    topologies,
    training_curve,
    worked_examples,
)
from experiments.cli import load_settings
from experiments.report_sections import SECTIONS
from experiments.results import ROOT
from experiments.settings import RoundRobinSettings
from gongzhu_jax import players
from gongzhu_jax.checkpoint import LAST, Checkpoints
from gongzhu_jax.evaluation import play_match, standard_deals
from gongzhu_jax.network.policy_value import NetworkConfig, count_parameters, make
from gongzhu_jax.network.weights import save_weights
from tests.evaluation.simple_players import high_player, mixed_player, random_player

SMALL = NetworkConfig("compact", stem=16, width=8, blocks=1)
PLAY = ("deals=6", "batch=6")


@pytest.fixture(scope="module")
def weights(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "small.safetensors"
    save_weights(path, SMALL, make(SMALL).init(jax.random.key(0)), {"games": 5000})
    return path


@pytest.fixture(autouse=True)
def simple_players(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Players that compile fast, differing by name and options; finished matches in the test's
    own folder."""
    chosen = {"random": random_player, "greed": random_player, "if": mixed_player}

    def simple(name: str, **options: Any) -> players.Player:
        averaged = options.get("inputs") == "averaged"
        player = high_player if averaged else chosen.get(name, mixed_player)
        config = sorted((key, str(value)) for key, value in options.items())
        return replace(player, name=name, config=config)

    monkeypatch.setattr(players, "make", simple)
    monkeypatch.setattr(comparison, "PARTS", tmp_path / "parts")
    monkeypatch.setenv("COLUMNS", "200")


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text())["result"]


def test_inputs(tmp_path: Path) -> None:
    out = tmp_path / "inputs.json"
    assert inputs.main([f"output={out}", *PLAY]) == 0
    rows = read(out)["rows"]
    assert list(rows) == list(inputs.KINDS)
    deals = standard_deals("development", 6)
    known, averaged = (
        play_match(player, random_player, deals, batch=6).margins
        for player in (mixed_player, high_player)
    )
    assert rows[inputs.FIRST]["mean"] == pytest.approx(known.mean())
    over = rows["averaged"]["over_first"]
    assert over["mean"] == pytest.approx((averaged - known).mean())
    assert over["standard_error"] == pytest.approx((averaged - known).std(ddof=1) / np.sqrt(6))


def test_training_curve(tmp_path: Path, weights: Path) -> None:
    run = {
        "result": {"points": [{"games": g, "wpg": -g / 100, "wpg_stderr": 5.0} for g in (9, 99)]}
    }
    (tmp_path / "run.json").write_text(json.dumps(run))
    out, picture = tmp_path / "curve.json", tmp_path / "training_curve.png"
    arguments = [f"checkpoints=[{weights}]", f"curve={tmp_path / 'run.json'}", f"output={out}"]
    assert training_curve.main([*arguments, f"picture={picture}", *PLAY]) == 0
    result = read(out)
    assert list(result["levels"]) == ["random", "if"]
    assert [point["games"] for point in result["curve"]] == [9, 99]
    (full,) = result["full"]
    assert full["games_trained"] == 5000
    assert full["players"] == ["scrofa", "greed"]
    assert result["raw"][0]["players"] == ["raw", "greed"]
    assert picture.stat().st_size > 10_000
    lines = SECTIONS["training_curve"](result).tables[0].lines
    assert [line[0] for line in lines[1:3]] == ["Mr. Random", "Mr. If"]
    assert lines[-1][0].endswith("after 5,000 games")


def pretend_to_train(config, mesh, run: Checkpoints, schedule, *, on_epoch, about) -> None:
    """Leaves what a run leaves, without learning anything."""
    params = make(config.network).init(jax.random.key(1))
    on_epoch({"epoch": config.epochs})
    header = {"config": asdict(config), "progress": {"seconds": 1.5}, **about}
    run.save(LAST, config.epochs, {"params": params}, params, header)


@pytest.mark.parametrize("real", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_topologies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real: bool) -> None:
    if not real:
        monkeypatch.setattr(topologies, "train", pretend_to_train)
    made = []

    def from_network(name: str, config: NetworkConfig, params: Any) -> players.Player:
        made.append((name, config, params))
        return replace(mixed_player, name=name, params=params)

    monkeypatch.setattr(players, "from_network", from_network)
    monkeypatch.setattr(topologies, "NetworkConfig", lambda name: SMALL)
    out = tmp_path / "topologies.json"
    arguments = ["networks=[compact]", "recipe=smoke", "epochs=2", "games=16", f"output={out}"]
    arguments += [f"directory={tmp_path / 'runs'}", "deals_of.compact=4", *PLAY]
    assert topologies.main(arguments) == 0
    row = read(out)["rows"]["compact"]
    assert (row["trained_on"], row["deals"]) == (32, 4)
    ((name, config, params),) = made
    assert (name, config) == ("raw", SMALL)
    assert row["parameters"] == count_parameters(params)
    (folder,) = (tmp_path / "runs").iterdir()
    assert Checkpoints(folder).epochs(LAST) == [2]
    before = json.loads(out.read_text())["result"]
    monkeypatch.setattr(topologies, "train", None)  # the second time nothing is left to train
    assert topologies.main(arguments) == 0
    assert read(out) == before
    lines = SECTIONS["topologies"](before).tables[0].lines
    assert lines[1][0] == "compact"
    assert [line[0] for line in lines[2:]] == list(topologies.PAPER)  # those that were not run
    assert topologies.main(["networks=[compact]", "deals_of.fc16=2"]) == 2


CHOSEN = ("techniques", "inputs", "input_figures")


def run_all(folder: Path, weights: Path) -> int:
    sizes = [f"steps.{name}.{size}" for name in CHOSEN[:2] for size in PLAY]
    return reproduce.main(
        [
            f"only=[{','.join(CHOSEN)}]",
            *(f"checkpoint={weights}", f"folder={folder}", f"report={folder / 'report'}"),
            *("compilation_cache=null", *sizes),
        ]
    )


def tables(folder: Path) -> list[str]:
    """The lines of numbers in the report."""
    lines = (folder / "report.md").read_text().splitlines()
    start = lines.index("## Training curve")
    return [line for line in lines[start:] if not line.startswith("`")]


def test_reproduce_goes_on_and_ends_with_the_same_report(
    tmp_path: Path, weights: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    calls = []

    def play(*args: Any, **options: Any) -> Any:
        calls.append(args)
        if len(calls) == 7:  # in the middle of the second experiment
            raise KeyboardInterrupt
        return play_match(*args, **options)

    monkeypatch.setattr(comparison, "play_match", play)
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    assert run_all(stopped, weights) == 130
    assert "inputs ended with exit code 130" in capsys.readouterr().err
    assert (stopped / "techniques.json").is_file()
    assert "Not run." in (stopped / "report.md").read_text()
    first = (stopped / "techniques.json").stat().st_mtime_ns

    assert run_all(stopped, weights) == 0
    assert "1 of 3 are finished already" in capsys.readouterr().err
    assert (stopped / "techniques.json").stat().st_mtime_ns == first
    assert len(calls) == 5 + 3 + 1  # every match once, and the one that was cut short
    page = (stopped / "report.html").read_text()
    assert page.count("data:image/png;base64,") == 2
    for fact in ("commit", "seed 0", "59.6 ± 3.3", "7 ± 4.6"):
        assert fact in page
    assert "http" not in page.split("</style>")[1]  # nothing from elsewhere

    monkeypatch.setattr(comparison, "PARTS", tmp_path / "other")
    assert run_all(whole, weights) == 0
    assert tables(whole) == tables(stopped)

    times = (stopped / "finished.json").read_text()
    assert run_all(stopped, weights) == 0
    assert "3 of 3 are finished already" in capsys.readouterr().err
    assert (stopped / "finished.json").read_text() == times
    assert tables(whole) == tables(stopped)


def start_all(clone: Path, weights: Path) -> subprocess.Popen:
    """The command as it is started by people, in a folder with nothing finished."""
    for name in ("experiments", "configs", "gongzhu_jax"):
        if not (clone / name).exists():
            (clone / name).symlink_to(ROOT / name)
    line = [sys.executable, "-m", "experiments.reproduce", f"checkpoint={weights}"]
    line += ["only=[inputs,worked_examples,input_figures]", "folder=results", "report=report"]
    line += ["steps.inputs.deals=8", "steps.inputs.batch=4", "steps.worked_examples.repeats=2"]
    line += [f"compilation_cache={jax.config.values['jax_compilation_cache_dir']}"]
    return subprocess.Popen(line, cwd=clone, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_reproduce_goes_on_after_it_was_killed(tmp_path: Path, weights: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for clone in (whole, killed):
        clone.mkdir()
    running = start_all(killed, weights)
    while not any((killed / "results" / "parts").glob("*.json")):  # the first of several matches
        assert running.poll() is None
        time.sleep(0.01)
    running.kill()
    running.communicate()
    assert running.returncode == -signal.SIGKILL
    parts = (killed / "results" / "parts").glob("*.json")
    kept = {path: path.stat().st_mtime_ns for path in parts}
    assert not (killed / "report.md").exists()

    for clone in (killed, whole):
        again = start_all(clone, weights)
        _, said = again.communicate()
        assert again.returncode == 0, said
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert tables(killed) == tables(whole)
    assert "Not run." in "".join(tables(whole))  # those that were not asked for
    for name in ("inputs", "worked_examples", "input_figures"):
        first, second = (read(clone / "results" / f"{name}.json") for clone in (killed, whole))
        assert without_times(first) == without_times(second)
    for picture in ("input_diffuse.png", "input_averaged.png"):
        first, second = ((clone / "results" / picture).read_bytes() for clone in (killed, whole))
        assert first == second


def without_times(found: Any) -> Any:
    """A result but for how long it took."""
    if isinstance(found, dict):
        timed = ("seconds", "games_per_second")
        return {key: without_times(value) for key, value in found.items() if key not in timed}
    return [without_times(value) for value in found] if isinstance(found, list) else found


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("only=[nothing]", "unknown experiment 'nothing'"),
        ("scale=huge", "scale/huge"),
        ("checkpoint=nowhere.safetensors", "cannot read weights"),
        ("checkpoint=nowhere", "not one checkpoint of a run"),
        ("steps.inputs.nothing=1", "nothing"),
    ],
)
def test_bad_settings(
    tmp_path: Path, weights: Path, capsys: pytest.CaptureFixture[str], argument: str, message: str
) -> None:
    common = [f"folder={tmp_path}", f"report={tmp_path / 'report'}", "compilation_cache=null"]
    if not argument.startswith("checkpoint"):
        common.append(f"checkpoint={weights}")
    if not argument.startswith("only"):
        common.append("only=[inputs]")
    assert reproduce.main([*common, argument]) == 2
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert message in errors[0]


SETTINGS = {
    "round_robin": RoundRobinSettings,
    "techniques": techniques.TechniquesSettings,
    "inputs": inputs.InputsSettings,
    "training_curve": training_curve.CurveSettings,
    "card_statistics": card_statistics.CardStatisticsSettings,
    "card_values": card_values.CardValuesSettings,
    "irrelevant_cards": irrelevant_cards.IrrelevantSettings,
    "worked_examples": worked_examples.WorkedSettings,
    "input_figures": input_figures.InputSettings,
    "topologies": topologies.TopologiesSettings,
}


def test_scales_have_sizes_that_all_experiments_take(tmp_path: Path) -> None:
    for scale in ("quick", "paper", "final"):
        arguments = [f"scale={scale}", "checkpoint=some.safetensors"]
        settings = load_settings("reproduce", reproduce.ReproduceSettings, arguments)
        assert settings.name == scale
        assert set(settings.steps) == set(settings.minutes) == set(reproduce.STEPS) == set(SECTIONS)
        for name, kind in SETTINGS.items():
            line = reproduce.arguments_of(name, settings, tmp_path)
            made: Any = load_settings(name, kind, line)
            assert made.output == f"{tmp_path}/{name}.json"
            if name == "round_robin":
                assert made.options == {"scrofa-simple": {"checkpoint": "some.safetensors"}}
                assert made.deals == settings.steps[name]["deals"]
    assert reproduce.overrides({"a": 1, "b": {"c": None}, "d": [1, "x"]}) == [
        *("a=1", "b.c=null", "d=[1,x]")
    ]


def test_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(reproduce.time, "monotonic", lambda: now[0])
    clock = reproduce.Clock({"a": 10.0, "b": 20.0})
    assert clock.left() == 30.0
    clock.start("a")
    now[0] = 4.0
    assert clock.left() == 26.0
    now[0] = 20.0  # twice as long as expected
    assert clock.left() == 20.0
    assert clock.stop() == 20.0
    assert clock.left() == 40.0
