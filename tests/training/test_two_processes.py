"""Two processes with one device each train as one process with two devices does."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import jax
import pytest

from gongzhu_jax.runtime import games_mesh
from tests.training import two_process_worker

ROOT = Path(__file__).parent.parent.parent
PROCESSES = 2
TIMEOUT = 300  # seconds; only a process that waits for a dead one takes so long


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def start(number: int, port: int) -> subprocess.Popen:
    settings = {
        "JAX_PLATFORMS": "cpu",
        "JAX_NUM_CPU_DEVICES": "1",
        "JAX_COMPILATION_CACHE_DIR": str(jax.config.values["jax_compilation_cache_dir"]),
    }
    arguments = [f"127.0.0.1:{port}", str(PROCESSES), str(number)]
    return subprocess.Popen(
        [sys.executable, "-m", two_process_worker.__name__, *arguments],
        cwd=ROOT,
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_two_processes() -> None:
    port = free_port()
    workers = [start(number, port) for number in range(PROCESSES)]
    try:
        expected = two_process_worker.train(games_mesh(jax.devices()[:PROCESSES]))
        outputs = [worker.communicate(timeout=TIMEOUT) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
    for worker, (printed, errors) in zip(workers, outputs, strict=True):
        assert worker.returncode == 0, errors
        report = json.loads(printed.splitlines()[-1])
        assert report["devices"] == PROCESSES
        assert report["local_devices"] == 1
        assert report["epochs"] == [pytest.approx(row, rel=1e-4) for row in expected]
