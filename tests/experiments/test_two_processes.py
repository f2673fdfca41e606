"""Two processes with one device each train as one process with two devices does."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import jax
import numpy as np
import pytest

from experiments.common.cli import DONE, INTERRUPTED
from experiments.common.tracking import read_log
from gongzhu_jax import runtime
from gongzhu_jax.checkpoint import BEST, LAST, Checkpoints
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.network.weights import POLICY_VALUE, NetworkKind, load_weights
from gongzhu_jax.opponents import card_belief, opponent_model
from tests.experiments import two_process_worker
from tests.experiments.test_train import wait_for_epoch
from tests.experiments.test_train_belief import SMALL, TABLES

TIMEOUT = 400  # seconds; only a process that waits for a dead one takes so long
EPOCHS = 4
MIXTURE = (f"training.epochs={EPOCHS}", "training.updates=2", "schedule.evaluate_every=2")
COMMANDS: dict[str, tuple[NetworkKind, tuple[str, ...]]] = {
    "train": (POLICY_VALUE, ("preset=smoke", f"epochs={EPOCHS}", "evaluate_deals=0")),
    "train_belief": (card_belief.KIND, (*SMALL, *MIXTURE)),
    "train_opponent_model": (
        opponent_model.KIND,
        (*TABLES, *MIXTURE, "network.player_types=1", "network.rank=4"),
    ),
}


class Run:
    """One command in one or two processes, with two devices in all."""

    def __init__(self, line: Sequence[str], processes: int):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        settings = {
            "JAX_PLATFORMS": "cpu",
            "JAX_NUM_CPU_DEVICES": str(2 // processes),
            "JAX_COORDINATOR_ADDRESS": address,
            "JAX_NUM_PROCESSES": str(processes),
        }
        self.processes = [
            subprocess.Popen(
                [sys.executable, "-m", *line],
                env=os.environ | settings | {"JAX_PROCESS_ID": str(number)},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for number in range(processes)
        ]

    def finish(self, code: int = DONE) -> list[str]:
        """What each process printed before it ended with this exit code."""
        try:
            printed = []
            for process in self.processes:
                output, errors = process.communicate(timeout=TIMEOUT)
                assert process.returncode == code, errors
                printed.append(output)
            return printed
        finally:
            self.kill()

    def kill(self) -> None:
        for process in self.processes:
            process.kill()
            process.communicate()


def training(name: str, directory: Path, processes: int) -> Run:
    line = [f"experiments.{name}", f"directory={directory}", *COMMANDS[name][1]]
    return Run([*line, f"distributed={processes > 1}"], processes)


def assert_same(name: str, directory: Path, expected: Path) -> None:
    """Logs and parameters are the same but for the order of two additions."""
    kind, _ = COMMANDS[name]
    rows, wanted = read_log(directory / "log.jsonl"), read_log(expected / "log.jsonl")
    assert [row["epoch"] for row in rows] == list(range(1, EPOCHS + 1))
    assert [row["loss"] for row in rows] == pytest.approx([row["loss"] for row in wanted], rel=1e-4)
    params, others = (
        load_weights(folder / LAST / str(EPOCHS), kind)[1] for folder in (directory, expected)
    )
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-4), params, others)


@pytest.fixture(scope="module", params=COMMANDS)
def alone(request: pytest.FixtureRequest, tmp_path_factory) -> tuple[str, Path]:
    """A command, and the folder of its training in a single process."""
    directory = tmp_path_factory.mktemp(request.param)
    training(request.param, directory, 1).finish()
    return request.param, directory


@pytest.mark.slow
@pytest.mark.parametrize("killed", [False, True])
def test_two_processes_train_as_one(alone: tuple[str, Path], tmp_path: Path, killed: bool) -> None:
    name, expected = alone
    run = training(name, tmp_path, 2)
    if killed:
        wait_for_epoch(tmp_path, 3, run.processes[0])
        run.kill()
        run = training(name, tmp_path, 2)
    run.finish()
    assert_same(name, tmp_path, expected)


@pytest.mark.parametrize("told", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_a_signal_to_either_process_stops_both_at_the_same_epoch(tmp_path: Path, told: int) -> None:
    run = Run([two_process_worker.__name__, str(tmp_path)], 2)
    wait_for_epoch(tmp_path, 5, run.processes[0])
    run.processes[told].send_signal(signal.SIGTERM)
    one, other = (int(printed.split()[-1]) for printed in run.finish(INTERRUPTED))
    assert 5 <= one == other
    assert Checkpoints(tmp_path).epochs(LAST) == [one - 1, one]
    assert Checkpoints(tmp_path).epochs(BEST) == [one]


def test_a_process_that_does_not_know_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def initialize(**_: object) -> None:  # as jax does in a process that has used no device yet
        raise ValueError("coordinator_address should be defined.")

    monkeypatch.setattr(jax.distributed, "initialize", initialize)
    with pytest.raises(ConfigError, match="JAX_NUM_PROCESSES"):
        runtime.join_hosts()
