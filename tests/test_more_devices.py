"""Whether the number of devices matters, asked again with more of them than tests usually have."""

import os
import subprocess
import sys

import pytest

from experiments.common.provenance import ROOT

TESTS = (
    "tests/training/test_epoch.py",
    "tests/training/test_runs.py",
    "tests/mixture_training/test_mixture_training.py::test_the_number_of_devices_does_not_matter",
    "tests/evaluation/test_matches.py",
    "tests/experiments/test_throughput.py::test_spread_games_are_the_same_games",
)


def test_what_is_asked_again_exists() -> None:
    """The slow test below finds this out too, but few run it."""
    for file, _, test in (name.partition("::") for name in TESTS):
        assert f"def {test}" in (ROOT / file).read_text()


@pytest.mark.slow
def test_eight_devices() -> None:
    line = [sys.executable, "-m", "pytest", "-q", "--numprocesses=0", *TESTS]
    subprocess.run(line, cwd=ROOT, env=os.environ | {"TEST_DEVICES": "8"}, check=True)
