"""Whether the number of devices matters, asked again with more of them than tests usually have."""

import os
import subprocess
import sys

import pytest

from experiments.common.provenance import ROOT

TESTS = (
    "tests/training/test_epoch.py",
    "tests/training/test_seeds.py",
    "tests/mixture_training/test_mixture_training.py::test_the_number_of_devices_does_not_matter",
    "tests/evaluation/test_matches.py",
    "tests/experiments/test_throughput.py::test_spread_games_are_the_same_games",
)


@pytest.mark.slow
def test_eight_devices() -> None:
    line = [sys.executable, "-m", "pytest", "-q", "--numprocesses=0", *TESTS]
    subprocess.run(line, cwd=ROOT, env=os.environ | {"TEST_DEVICES": "8"}, check=True)
