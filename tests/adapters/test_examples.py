"""The scripts in examples/ run as they are."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.arena.live_server import in_process

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
BOT = "arena_bot.py"
LITTLE_LEARNING = ["--updates", "2", "--games", "16", "--deals", "16", "--width", "32"]
SMALL = {
    "pgx_alphazero.py": ["--games", "2", "--simulations", "4"],
    "pgx_ppo.py": LITTLE_LEARNING,
    "ppo.py": LITTLE_LEARNING,
}


def run(path: Path, folder: Path, *arguments: str) -> str:
    """What the script prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(path), *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


ALONE = sorted(path for path in EXAMPLES.glob("*.py") if path.name != BOT)


@pytest.mark.slow
@pytest.mark.parametrize("path", ALONE, ids=lambda path: path.stem)
def test_example(path: Path, tmp_path: Path) -> None:
    assert run(path, tmp_path, *SMALL.get(path.name, []))


@pytest.mark.slow
def test_ppo_learns_to_beat_mr_random(tmp_path: Path) -> None:
    """Two minutes instead of the example's five, and the claim is the example's own."""
    said = run(EXAMPLES / "ppo.py", tmp_path, "--updates", "80")
    points, error = re.search(r"Random: (\S+) \+- (\S+)", said).groups()  # ty: ignore
    assert float(points) > 3 * float(error)


@pytest.mark.slow
def test_example_bot_at_an_arena(tmp_path: Path) -> None:
    with in_process(tmp_path / "arena.sqlite") as (arena, _):
        said = run(EXAMPLES / BOT, tmp_path, "--address", arena.ws, "--games", "2")
    assert said.startswith("2 games")
