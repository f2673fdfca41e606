"""docs/design.md says which files a decision of the strongest player runs through: all of them, and
no others."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

TRACE = """
import sys
import jax
from gongzhu_jax import game, players

view = game.make_view(1, "SQ S3 HA H4 H2 D10 D9 D2 CK C7 C6 C5 C2", leader=0, plays="S7")
files = {}


def note(frame, event, argument):
    if event == "call":
        files[frame.f_code.co_filename] = None


sys.setprofile(note)
jax.eval_shape(lambda view: players.make("scrofa-strong").act(view), view)
sys.setprofile(None)
print("\\n".join(files))
"""


def test_design_lists_the_files_of_a_decision() -> None:
    # A process of its own: nothing has been traced, read or cached there.
    done = subprocess.run(
        [sys.executable, "-c", TRACE], cwd=ROOT, capture_output=True, text=True, check=True
    )
    package = ROOT / "gongzhu_jax"
    paths = [Path(line) for line in done.stdout.splitlines()]
    called = [str(path.relative_to(package)) for path in paths if path.is_relative_to(package)]

    text = (ROOT / "docs" / "design.md").read_text()
    text = text.partition("**One decision of `scrofa-strong`")[2].partition("**Registries.**")[0]
    path = re.findall(r"^\d+\. `([\w/]+\.py)`", text, re.MULTILINE)
    tools = [name for name in re.findall(r"`([\w/]+\.py)`", text) if name not in path]
    assert len(path) <= 12
    assert sorted([*path, *tools]) == sorted(called)
