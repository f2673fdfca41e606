"""The training command: it learns nothing here, but stops, dies and comes back as it should."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import jax
import numpy as np
import pytest

from experiments import export_weights, train, training_report
from experiments.common.tracking import RunLog, read_log
from gongzhu_jax.checkpoint import BEST, LAST, Checkpoints, digest
from gongzhu_jax.network.weights import about_weights, load_weights
from gongzhu_jax.players import registry as players

EPOCHS = 12


def words(directory: Path, *changes: str) -> list[str]:
    """Epochs of few games and a small network, without evaluation unless a change says so."""
    common = ("preset=smoke", f"directory={directory}", f"epochs={EPOCHS}", "network.width=8")
    return [*common, "evaluate_deals=0", *changes]


def start(directory: Path, *changes: str) -> subprocess.Popen:
    """The command in a process of its own, with as many devices as this one has."""
    return subprocess.Popen(
        [sys.executable, "-m", "experiments.train", *words(directory, *changes)],
        env=os.environ | {"JAX_NUM_CPU_DEVICES": str(jax.device_count())},
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_epoch(directory: Path, epoch: int, process: subprocess.Popen) -> None:
    log = directory / "log.jsonl"
    while process.poll() is None:
        rows = read_log(log) if log.exists() else []
        if rows and rows[-1]["epoch"] >= epoch:
            return
        time.sleep(0.01)


def final_digest(directory: Path) -> str:
    return Checkpoints(directory).about(LAST, EPOCHS)["digests"]["state"]


@pytest.fixture(scope="module", autouse=True)
def _signals() -> Iterator[None]:
    """Those of pytest stay when the command runs in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signal, "signal", lambda *_: None)
        yield


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Path:
    """A run from its start to its end, evaluated twice."""
    directory = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as patch:
        # Mr. If in the place of Mr. Greed, who has tests of his own and takes long to compile.
        patch.setattr(train.players, "make", lambda name: players.make("if"))
        assert train.main(words(directory, "evaluate_deals=2", "evaluate_every=8")) == 0
    return directory


def go_on(directory: Path) -> None:
    """The same command to the end of the run, in this process; its picture is tested above."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train, "plot_training", lambda *_: None)
        assert train.main(words(directory)) == 0


def test_what_a_run_leaves(undisturbed):
    rows = read_log(undisturbed / "log.jsonl")
    assert [row["epoch"] for row in rows] == list(range(1, EPOCHS + 1))
    assert [row["epoch"] for row in rows if "wpg" in row] == [8, 12]  # and the last
    fields = {"games", "seconds", "games_per_second", "policy_loss", "value_loss", "waste"}
    assert fields <= rows[0].keys()
    assert (undisturbed / "curve.png").stat().st_size > 10_000
    assert any((undisturbed / "tensorboard").iterdir())
    about = Checkpoints(undisturbed).about(LAST, EPOCHS)
    assert about["command"].startswith("python -m experiments.train preset=smoke")
    assert len(Checkpoints(undisturbed).epochs(BEST)) == 1
    assert load_weights(undisturbed)[0].width == 8


def stop_at(
    moment: int, how: signal.Signals, directory: Path, *changes: str, saved: bool = False
) -> str:
    """Starts the run, or goes on with it, and stops it after epoch `moment`; what it said. With
    `saved` not before a checkpoint is complete: they are written while the run goes on."""
    process = start(directory, *changes)
    wait_for_epoch(directory, moment, process)
    while saved and process.poll() is None and not Checkpoints(directory).epochs(LAST):
        time.sleep(0.01)
    if how == signal.SIGKILL:
        time.sleep(random.Random(moment).uniform(0, 0.3))  # also within a save
    process.send_signal(how)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == (0 if how == signal.SIGTERM else -how), errors
    return errors


def test_killed_and_terminated_it_ends_with_the_same_parameters(undisturbed, tmp_path, capsys):
    """SIGTERM saves and exits with zero, though no checkpoint is due."""
    stop_at(4, signal.SIGKILL, tmp_path, saved=True)
    (*_, before) = Checkpoints(tmp_path).epochs(LAST)
    errors = stop_at(before + 3, signal.SIGTERM, tmp_path, "checkpoint_every=1000")
    assert f"going on from epoch {before}" in errors
    assert "goes on from there" in errors
    saved = Checkpoints(tmp_path).epochs(LAST)[-1]
    assert before + 3 <= saved < EPOCHS
    go_on(tmp_path)
    assert f"going on from epoch {saved}" in capsys.readouterr().err
    assert final_digest(tmp_path) == final_digest(undisturbed)
    assert [row["epoch"] for row in read_log(tmp_path / "log.jsonl")] == list(range(1, EPOCHS + 1))


@pytest.mark.slow
def test_killed_three_times_it_ends_with_the_same_parameters(undisturbed, tmp_path):
    for moment in (1, 4, 8):
        stop_at(moment, signal.SIGKILL, tmp_path)
    go_on(tmp_path)
    assert final_digest(tmp_path) == final_digest(undisturbed)
    assert [row["epoch"] for row in read_log(tmp_path / "log.jsonl")] == list(range(1, EPOCHS + 1))


def test_a_run_goes_on_from_the_weights_of_another(undisturbed, tmp_path):
    """Exported, trained further, and reported as one curve."""
    weights, second = tmp_path / "first.safetensors", tmp_path / "second"
    checkpoint = f"checkpoint={undisturbed}/last/{EPOCHS}"
    assert export_weights.main([checkpoint, f"output={weights}", "dtype=float32"]) == 0
    options = words(second, "epochs=2")
    assert train.main([*options, f"start={weights}"]) == 0
    about = Checkpoints(second).about(LAST, 2)
    assert about["config"]["start"] == digest(load_weights(weights)[1])
    assert about["start"]["epoch"] == EPOCHS
    assert train.main(options) == 2  # without its start it is another run

    mean = tmp_path / "mean.safetensors"
    averaged = [f"checkpoint={second}/last/2", f"average_with=[{weights}]", f"output={mean}"]
    assert export_weights.main([*averaged, "dtype=float32"]) == 0
    parts = (load_weights(place)[1] for place in (weights, second / "last" / "2", mean))
    for one, other, both in zip(*map(jax.tree.leaves, parts), strict=True):
        np.testing.assert_allclose((np.asarray(one) + np.asarray(other)) / 2, both, rtol=1e-5)
        assert np.any(one != other)
    assert about_weights(mean)["averaged_with"] == [str(weights)]
    assert export_weights.main([averaged[0], "average_with=[critic]", averaged[2]]) == 2

    first = [f"directory={undisturbed}", "name=first"]
    assert training_report.main(first) == 0
    both = [f"directory={second}", "name=both", "after=first"]
    assert training_report.main(both) == 0
    one, two = (
        json.loads((tmp_path / "runs" / f"{name}.json").read_text())["result"]
        for name in ("first", "both")
    )
    assert one["games"] == 16 * EPOCHS
    assert two["games"] == 16 * (EPOCHS + 2)
    assert two["after"]["games"] == one["games"]
    assert two["hours"] > one["hours"]
    assert training_report.main([*both[:2]]) == 2  # part of the story is missing
    assert training_report.main([*first, "after=both"]) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("search.nothing=1", "unknown setting 'search.nothing'"),
        ("network.name=huge", "unknown network 'huge'"),
        ("learner.minibatch=60", "do not divide into minibatches of 60"),
        ("epochs=many", "epochs"),
        ("preset=none", "preset/none"),
        ("start=weights.txt", "start must be a weights file"),
        ("start=none.safetensors", "cannot read weights"),
    ],
)
def test_bad_settings_are_one_line_and_exit_code_two(tmp_path, capsys, change, message):
    assert train.main(["preset=smoke", f"directory={tmp_path / 'run'}", change]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert message in lines[0]
    assert not (tmp_path / "run").exists()


def test_a_resumed_log_drops_what_comes_after(tmp_path):
    with RunLog(tmp_path, 0) as log:
        for epoch in (1, 2, 3):
            log.write({"epoch": epoch, "loss": 1.0})
    path = tmp_path / "log.jsonl"
    with path.open("a") as file:
        file.write('{"epoch": 4, "lo')  # cut short by a kill
    with RunLog(tmp_path, 2) as log:
        log.write({"epoch": 3, "loss": 0.5})
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(row["epoch"], row["loss"]) for row in rows] == [(1, 1.0), (2, 1.0), (3, 0.5)]
    assert os.listdir(tmp_path).count("log.jsonl") == 1
