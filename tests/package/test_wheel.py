"""The wheel in an environment of its own, outside the repository: what people get from pip."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MINE = """
def make(high=False):
    return lambda view: view["legal"][-1 if high else 0]
"""
HAND = "SQ S3 HA H4 H2 D10 D9 D2 CK C7 C6 C5 C2"
MATCH = ["opponent=random", "deals=8", "batch=8"]

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel and sdist, built from a copy of the files that a checkout has."""
    copy, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    )
    for name in listed.stdout.decode().splitlines():
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return out


@pytest.fixture(scope="module")
def gongzhu(dist: Path, tmp_path_factory: pytest.TempPathFactory):
    """Runs the installed command in a folder that has `mine.py`; returns what it printed."""
    home = tmp_path_factory.mktemp("home")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XLA_FLAGS": "--xla_backend_optimization_level=0",
    }
    venv.create(home / "env", with_pip=True)
    python = home / "env" / "bin" / "python"
    wheel = next(dist.glob("*.whl"))
    install = [python, "-m", "pip", "install", "-q", "--no-deps", str(wheel)]
    subprocess.run(install, check=True, env=environment)
    # Other packages are those of this environment, without its own installation of ours.
    libraries = sysconfig.get_path("purelib")
    site = next((home / "env" / "lib").glob("python*/site-packages"))
    (site / "others.pth").write_text(libraries + "\n")
    folder = home / "work"
    folder.mkdir()
    (folder / "mine.py").write_text(MINE)

    def run(*arguments: str, stdin: str = "") -> str:
        done = subprocess.run(
            [home / "env" / "bin" / "gongzhu", *arguments],
            cwd=folder,
            env=environment,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (arguments, done.stdout[-1500:], done.stderr[-3000:])
        return done.stdout

    run.folder = folder  # ty: ignore[missing-attribute]
    return run


def test_metadata_is_as_indexes_want_it(dist: Path) -> None:
    files = sorted(map(str, dist.iterdir()))
    assert len(files) == 2
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *files],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_play_and_move(gongzhu) -> None:
    said = gongzhu("play", "--opponents", "if", "--partner", "random", "--seed", "1", stdin="q\n")
    assert "You are seat 0" in said
    position = ["--seat", "1", "--hand", HAND, "--leader", "0", "--plays", "S7"]
    assert gongzhu("move", *position, "--player", "mine:make") == "S3\n"
    high = gongzhu("move", *position, "--player", "mine:make", "-o", "high=true", "--json")
    assert json.loads(high)["card"] == "SQ"


def test_evaluate_with_a_player_of_ones_own(gongzhu) -> None:
    gongzhu("evaluate", "player=mine:make", *MATCH)
    result = json.loads((gongzhu.folder / "runs" / "match-mine-random.json").read_text())
    row = result["result"]["rows"]["mine over random"]
    assert row["deals"] == 8
    assert result["commit"] == "unknown"  # no repository here


def test_sweep(gongzhu) -> None:
    sweep = ["player=mine:make", "options.high=false,true", "name=high"]
    gongzhu("sweep", *sweep, *MATCH)
    cells = json.loads((gongzhu.folder / "runs" / "high.json").read_text())["result"]["cells"]
    assert len(cells) == 2


def test_reproduce(gongzhu) -> None:
    small = ["steps.classical.deals=4", "steps.input_figures={}"]
    gongzhu("reproduce", "only=[classical,input_figures]", *small)
    assert (gongzhu.folder / "runs" / "report.html").is_file()


def test_doctor_and_help(gongzhu) -> None:
    assert "evaluate" in gongzhu("--help")
    assert "learner.value_weight=0.03" in gongzhu("train", "--help")
