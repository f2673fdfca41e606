"""All experiments as one command: it goes on after a stop, and its report verifies the figures."""

import functools
import json
import os
import re
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

from experiments import reproduce
from experiments.common import provenance, results
from experiments.common.cli import load_settings
from experiments.common.provenance import ROOT
from experiments.common.results import PLACES, Workplace
from experiments.paper import learning, training_curve
from experiments.report.figures import Figure
from experiments.report.sections import section_of
from experiments.report.texts import TEXTS
from gongzhu_jax import players
from gongzhu_jax.checkpoint import LAST, Checkpoints, digest
from gongzhu_jax.evaluation import recorder
from gongzhu_jax.evaluation.stats import estimate
from gongzhu_jax.network.policy_value import NetworkConfig, count_parameters, make
from gongzhu_jax.network.weights import save_weights
from tests.evaluation.simple_players import high_player, mixed_player

SMALL = NetworkConfig("compact", stem=16, width=8, blocks=1)
CHOSEN = ("inputs", "round_robin", "input_figures")


@pytest.fixture(scope="module")
def weights(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "small.safetensors"
    save_weights(path, SMALL, make(SMALL).init(jax.random.key(0)), {"games": 5000})
    return path


def run_all(weights: Path, *words: str) -> int:
    sizes = [f"steps.{name}.{size}" for name in CHOSEN[:2] for size in ("deals=6", "batch=8")]
    line = [f"only=[{','.join(CHOSEN)}]", f"checkpoint='{weights}'"]
    return reproduce.main([*line, *sizes, *words])


def tables(folder: Path) -> list[str]:
    """The report but for times and commands."""
    lines = (folder / "runs" / "report.md").read_text().splitlines()
    lines = [line for line in lines if not line.startswith("`this machine")]
    return [re.sub(r"( \d+ x \d+ \|) \d+ \|", r"\1", line) for line in lines]  # seconds of play


@pytest.mark.usefixtures("simple_players")
def test_reproduce_goes_on_and_ends_with_the_same_report(
    places: Path, weights: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    calls = []
    play = recorder.Recorder.play

    def stop_once(self, name, *args, **options):
        calls.append(name)
        if len(calls) == 5:  # in the middle of the second experiment
            raise KeyboardInterrupt
        return play(self, name, *args, **options)

    monkeypatch.setattr(recorder.Recorder, "play", stop_once)
    program: Any = jax.jit(lambda x: x + 1)
    program(1.0)
    assert program._cache_size() == 1
    assert run_all(weights) == 130
    assert program._cache_size() == 0  # nothing stays compiled after an experiment
    assert "1 of 6 matches are finished" in capsys.readouterr().err
    assert "Not run on this machine." in (places / "runs" / "report.md").read_text()
    assert run_all(weights) == 0
    said = capsys.readouterr().err
    assert "inputs: finished already" in said
    assert "if over random: 6 of 6 deals are on record" in said
    stopped = tables(places)
    page = (places / "runs" / "report.html").read_text()
    assert page.count("data:image/png;base64,") == 2
    assert "http" not in page.split("</style>")[1]  # nothing from elsewhere

    whole = places / "whole"
    for name in ("runs", "results", "pictures"):
        (whole / name).mkdir(parents=True)
        monkeypatch.setattr(PLACES, name, whole / name)
    assert run_all(weights) == 0
    assert tables(whole) == stopped


def publish_here(places: Path, monkeypatch: pytest.MonkeyPatch, weights: Path) -> None:
    """Results of more deals in the published folder, as if a commit had made them."""
    monkeypatch.setattr(results, "is_clean", lambda: True)
    monkeypatch.setattr(provenance, "is_clean", lambda: True)
    settings = load_settings("reproduce", reproduce.ReproduceSettings, [f"checkpoint='{weights}'"])
    settings = replace(settings, publish=True)
    for name in CHOSEN[:2]:
        step = reproduce.make_step(name, settings)
        step = replace(step, settings=replace(step.settings, deals=9, batch=16))
        reproduce.run_step(step, Workplace("published", publish=True), places / "none", "weights")


@pytest.mark.usefixtures("simple_players")
def test_the_report_verifies_what_is_published(
    places: Path, weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_here(places, monkeypatch, weights)
    assert run_all(weights) == 0
    report = (places / "runs" / "report.md").read_text()
    # Three inputs, two differences of them, six pairs and epsilon.
    assert "**All 12 figures played here agree with the published ones; 9 of them" in report
    assert "| published | this machine | agreement |" in report
    assert report.count("equal deal by deal (6 deals)") == 9

    # One margin of a published record is wrong, then a figure of the table only.
    record = next(iter((places / "results" / "records").glob("*.json")))
    before = record.read_text()
    content = json.loads(before)
    content["margins"][2] += 60
    record.write_text(json.dumps(content))
    assert run_all(weights) == 0
    verdict = (places / "runs" / "report.md").read_text().splitlines()[2]
    assert "figures played here DO NOT AGREE" in verdict
    assert "its record says" in verdict or "1 of 6 deals, on the same platform" in verdict
    record.write_text(before)
    view = places / "results" / "inputs.json"
    content = json.loads(view.read_text())
    content["result"]["rows"]["averaged"]["mean"] += 30
    view.write_text(json.dumps(content))
    assert run_all(weights) == 0
    verdict = (places / "runs" / "report.md").read_text().splitlines()[2]
    assert "1 of 12 figures played here DO NOT AGREE" in verdict
    assert "averaged: DIFFERS: its record says" in verdict
    assert 'class="verdict bad"' in (places / "runs" / "report.html").read_text()


@pytest.mark.usefixtures("simple_players")
def test_training_curve(places: Path, weights: Path) -> None:
    points = [{"games": g, "hours": 1, "wpg": -g / 100, "wpg_stderr": 5.0} for g in (9, 99)]
    run = {"result": {"points": points}}
    (places / "results" / "training.json").write_text(json.dumps(run))
    line = [f"checkpoints=[shipped,'{weights}']", "deals=6", "batch=8"]
    assert training_curve.main(line) == 0
    result = json.loads((places / "runs" / "training_curve.json").read_text())["result"]
    assert [point["games"] for point in result["curve"]] == [9, 99]
    assert result["trained"][f"full player of {weights}"] == 5000
    assert result["trained"]["raw network"] == training_curve.games_of("shipped")
    assert result["trained"]["raw network"] > 500_000
    assert result["rows"]["full player"]["players"] == ["scrofa", "greed"]
    assert result["rows"]["raw network"]["players"] == ["raw", "greed"]
    assert (places / "runs" / "training_curve_full.png").stat().st_size > 10_000
    line = section_of("training_curve", result).tables[0].lines[2]
    assert line[:3] == ["Mr. If", "-80", "-80.3 ± 5.7"]


def pretend_to_train(configs, mesh, folder, schedule, *, keep, on_epoch, about) -> None:
    """Leaves what runs leave, without learning anything: parameters by seed and epoch."""
    for name, config in configs.items():
        run = Checkpoints(folder / name, keep)
        for epoch in range(schedule.checkpoint_every, config.epochs + 1, schedule.checkpoint_every):
            params = make(config.network).init(jax.random.key(100 * config.seed + epoch))
            header = {"config": asdict(config), "progress": {"seconds": 90.0}, **about}
            run.save(LAST, epoch, {"params": params}, params, header)
        run.wait()
        on_epoch({"epoch": config.epochs})


@pytest.mark.parametrize("real", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.usefixtures("simple_players")
def test_learning(places: Path, monkeypatch: pytest.MonkeyPatch, real: bool) -> None:
    """Two seeds and two moments of a run: four networks, each with its own match."""
    if not real:
        monkeypatch.setattr(learning, "train_runs", pretend_to_train)
    made = []

    def from_network(name: str, config: NetworkConfig, params: Any) -> players.Player:
        made.append(params)
        # Players that differ, so that a network in the place of another would be noticed.
        return replace(high_player if len(made) % 3 else mixed_player, name=name)

    monkeypatch.setattr(players, "from_network", from_network)
    line = ["recipe=smoke", "changes={small:{selfplay:{games:16}}}", "games=64", "points=2"]
    line += ["seeds=2", "deals=6", "batch=8", "deals_on_the_way=4"]
    assert learning.main(line) == 0
    result = json.loads((places / "runs" / "learning.json").read_text())["result"]
    labels = [f"small, seed {seed}, {games} games" for games in (32, 64) for seed in (0, 1)]
    assert list(result["rows"]) == labels
    assert [row["deals"] for row in result["rows"].values()] == [4, 4, 6, 6]
    assert result["runs"]["small"]["points"] == {"32": labels[:2], "64": labels[2:]}
    assert result["runs"]["small"]["parameters"] == count_parameters(made[0])
    assert len({digest(params) for params in made}) == 4
    ends = np.array([result["rows"][label]["mean"] for label in labels[2:]])
    error = np.abs(ends[0] - ends[1]) / 2
    said = section_of("learning", result).tables[0].lines
    assert said[1][:3] == ["small", f"{ends.mean():.1f} ± {error:.1f}", "64"]
    assert said[1][-1] == "0.0 ± 0.0"  # over itself
    monkeypatch.setattr(learning, "train_runs", None)  # now nothing is left to train
    assert learning.main(line) == 0
    for wrong in (
        "games_of.other=2",
        "changes={a:{learner:{nothing:1}}}",
        "seeds=0",
        "deals_on_the_way=7",
    ):
        assert learning.main([*line, wrong]) == 2


def test_runs_of_one_seed_are_compared_deal_by_deal() -> None:
    margins = {
        "a10": (1, 3, 5),
        "a20": (5, 9, 1),
        "b10": (4, 8, 0),
        "b20": (6, 9, 3),
        "c5": (0, 1, 2),
    }
    points = {"a": (10, 20), "b": (10, 20), "c": (5,)}
    about = {"parameters": 7, "training_seconds": 60.0}
    runs = {
        run: {**about, "points": {games: [f"{run}{games}"] for games in of}}
        for run, of in points.items()
    }
    pairs = learning.pairs_of(runs)
    assert pairs == [("a20", "a10"), ("b20", "b10"), ("b20", "a20")]
    match = {"rotations": 2, "seconds": 1, "win_rate": 0.5, "draw_rate": 0.0, "clean": True}
    rows = {
        name: {**match, "commits": ["x"], **estimate(np.array(of)).summary()}
        for name, of in margins.items()
    }
    changes = {(a, b): np.subtract(margins[a], margins[b]) for a, b in pairs}
    paired = {f"({a}) - ({b})": estimate(of).summary() for (a, b), of in changes.items()}
    result = {"rows": rows, "differences": paired, "runs": runs}
    a, b, c = section_of("learning", result).tables[0].rows
    # (4, 6, -4), (2, 1, 3) and (1, 0, 2), each with the deviation over the root of 3.
    assert {head: figure.text for head, figure in a.figures.items()} == {
        "gained on the way": "2.0 ± 3.1"
    }
    assert {head: figure.text for head, figure in b.figures.items()} == {
        "gained on the way": "2.0 ± 0.6",
        "over the first": "1.0 ± 0.6",
    }
    assert not c.figures


def test_runs_are_compared_after_as_many_games() -> None:
    means = {"a10": (1, 3), "a20": (5, 9), "b10": (4, 8), "c5": (0, 1)}
    match = {"standard_error": 1.0, "deals": 4, "rotations": 2, "seconds": 1, "commits": ["x"]}
    match |= {"clean": True, "win_rate": 0.5, "draw_rate": 0.0}
    rows = {
        f"{run}-{seed}": {**match, "mean": mean}
        for run, of in means.items()
        for seed, mean in enumerate(of)
    }

    def points(name: str, *games: int) -> dict[str, list[str]]:
        return {str(n): [f"{name}{n}-0", f"{name}{n}-1"] for n in games}

    runs = {"a": points("a", 10, 20), "b": points("b", 10), "c": points("c", 5)}
    about = {"parameters": 1, "training_seconds": 60.0}
    trained = {name: {**about, "points": of} for name, of in runs.items()}
    result = {"rows": rows, "differences": {}, "runs": trained}
    first, fewer, never = section_of("ablations", result).tables[0].rows
    assert first.figures["over the first"].value == 0
    assert fewer.figures["over the first"] == Figure(4.0, 1.0)  # 4 - 1 and 8 - 3
    assert not never.figures


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("only=[nothing]", "unknown experiment 'nothing'"),
        ("scale=huge", "scale/huge"),
        ("checkpoint=nowhere.safetensors", "cannot read weights"),
        ("checkpoint=nowhere", "not one checkpoint of a run"),
        ("steps.inputs.nothing=1", "nothing"),
        ("publish=true", "needs a tree without changes"),
    ],
)
def test_bad_settings(weights: Path, capsys, monkeypatch, argument: str, message: str) -> None:
    monkeypatch.setattr(results, "is_clean", lambda: False)
    line = []
    if not argument.startswith(("checkpoint", "publish")):
        line.append(f"checkpoint='{weights}'")
    if not argument.startswith("only"):
        line.append("only=[inputs]")
    assert reproduce.main([*line, argument]) == 2
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert message in errors[0]


@functools.cache
def at_scale(scale: str) -> tuple[reproduce.ReproduceSettings, dict[str, Any]]:
    """The settings of all experiments at a scale, and those of each of its steps."""
    settings = load_settings("reproduce", reproduce.ReproduceSettings, [f"scale={scale}"])
    if scale == "final":
        settings = replace(settings, publish=True)
    return settings, {name: reproduce.make_step(name, settings).settings for name in settings.steps}


@pytest.mark.parametrize("scale", ["quick", "final", "paper"])
def test_scales_have_sizes_that_all_experiments_take(scale: str) -> None:
    settings, steps = at_scale(scale)
    assert settings.name == scale
    assert set(settings.steps) == set(settings.minutes)
    if scale == "final":  # everything is published, the most wanted first
        assert set(settings.steps) == set(reproduce.STEPS)
        assert settings.chosen[:3] == ["techniques", "strength", "round_robin"]
    for name in settings.chosen:
        # What was chosen by figures of the published deals is judged by others.
        deals = "published-2" if name == "refinements" else "published-1"
        assert getattr(steps[name], "set", deals) == deals
        assert steps[name].publish == (scale == "final")
        if "deals" in settings.steps[name]:
            assert asdict(steps[name])["deals"] == settings.steps[name]["deals"]
    assert {name for name in settings.steps if not name.startswith("curve_")} <= set(TEXTS)


def test_quick_plays_the_first_of_the_published_deals() -> None:
    (_, quick), (_, final) = at_scale("quick"), at_scale("final")
    for name in quick:
        here, published = quick[name], final[name]
        for what in ("deals", "repeats"):
            assert getattr(here, what, 0) <= getattr(published, what, 0)
        same = ("seed", "set", "checkpoint", "matches", "players", "beta", "search", "rotations")
        for what in same:
            assert getattr(here, what, None) == getattr(published, what, None)


def start_all(clone: Path, weights: Path) -> subprocess.Popen:
    """The command as it is started by people, in a folder with nothing finished."""
    for name in ("experiments", "configs", "gongzhu_jax"):
        if not (clone / name).exists():
            (clone / name).symlink_to(ROOT / name)
    line = [sys.executable, "-m", "experiments.reproduce", f"checkpoint='{weights}'"]
    line += ["only=[inputs,worked_examples,input_figures]", "steps.inputs.deals=8"]
    line += ["steps.inputs.batch=4", "steps.worked_examples.repeats=2"]
    return subprocess.Popen(
        line,
        cwd=clone,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(clone)},
    )


@pytest.mark.slow
def test_reproduce_goes_on_after_it_was_killed(tmp_path: Path, weights: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for clone in (whole, killed):
        clone.mkdir()
    running = start_all(killed, weights)
    while not any(killed.glob("runs/records/*.json")):  # some deals of the first match
        assert running.poll() is None
        time.sleep(0.01)
    running.kill()
    running.communicate()
    assert running.returncode == -signal.SIGKILL
    assert not (killed / "runs" / "report.md").exists()
    for clone in (killed, whole):
        again = start_all(clone, weights)
        _, said = again.communicate()
        assert again.returncode == 0, said
    assert tables(killed) == tables(whole)


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
    clock.stop()
    assert clock.left() == 40.0
