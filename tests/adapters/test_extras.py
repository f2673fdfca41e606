"""Without the optional packages: one line that says what to install; the rest works."""

import subprocess
import sys
from pathlib import Path

import pytest

from gongzhu_jax.adapters.extras import needs_extra
from gongzhu_jax.errors import GongzhuError, MissingExtraError

ROOT = Path(__file__).parent.parent.parent

HIDE = """
import sys
for name in ("pgx", "pettingzoo", "gymnasium", "pyspiel", "open_spiel", "svgwrite"):
    sys.modules[name] = None  # as if it were not installed
import importlib
from gongzhu_jax import evaluation, players, records
from gongzhu_jax.adapters import drawing
from gongzhu_jax.errors import MissingExtraError

def attempt(work):
    try:
        work()
    except MissingExtraError as error:
        print(error)

for name in ("pgx_env", "pgx_drawing", "pettingzoo_env", "openspiel_game", "openspiel_bots"):
    attempt(lambda: importlib.import_module("gongzhu_jax.adapters." + name))
attempt(lambda: players.make("openspiel-ismcts"))
print(players.make("greed").name)
"""


def test_without_the_packages() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", HIDE],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    told = "{} is not installed; install it with: pip install 'gongzhu_jax[{}]'"
    assert done.stdout.splitlines() == [
        told.format("pgx", "pgx"),
        told.format("pgx", "pgx"),
        told.format("gymnasium", "pettingzoo"),
        told.format("pyspiel", "openspiel"),
        told.format("pyspiel", "openspiel"),
        told.format("pyspiel", "openspiel"),
        "greed",
    ]
    assert done.stderr == ""


def test_the_error() -> None:
    with pytest.raises(MissingExtraError) as caught, needs_extra("pgx"):
        raise ModuleNotFoundError("No module named 'pgx'", name="pgx")
    assert isinstance(caught.value, GongzhuError)
    assert isinstance(caught.value, ImportError)
    assert "\n" not in str(caught.value)
