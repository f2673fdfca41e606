"""The scripts in examples/ run as they are."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
SMALL = {"pgx_alphazero.py": ["--games", "2", "--simulations", "4"]}


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_example(path: Path, tmp_path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(path), *SMALL.get(path.name, [])],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
