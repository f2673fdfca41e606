"""`make test` gets itself a browser where it can, and says so where it cannot."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "chromium"
TOOLS = ("bash", "sh", "dirname", "id", "timeout", "chmod", "env", "cat")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the script and a PATH without any browser."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(SCRIPT, tmp_path / ".ci")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        program = shutil.which(tool)
        assert program is not None
        (tmp_path / "bin" / tool).symlink_to(program)
    return tmp_path


def write_tool(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def run(checkout: Path) -> str:
    done = subprocess.run(
        [checkout / "bin" / "bash", checkout / ".ci" / "chromium"],
        env={"PATH": str(checkout / "bin")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_browser_that_is_there_is_enough(checkout: Path) -> None:
    write_tool(checkout / "bin" / "chromium", "exit 0")
    write_tool(checkout / "bin" / "apt-get", f"touch {checkout}/asked")
    assert run(checkout) == ""
    assert not (checkout / "asked").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="as another user it asks sudo, which is not here")
def test_a_package_of_the_system(checkout: Path) -> None:
    write_tool(
        checkout / "bin" / "apt-get",
        f"cat /dev/null > {checkout}/bin/chromium\nchmod +x {checkout}/bin/chromium",
    )
    assert run(checkout) == ""


def test_playwrights_own(checkout: Path) -> None:
    write_tool(
        checkout / ".venv" / "bin" / "python",
        'case "$2" in playwright) exit 0;; *) echo /opt/own/chrome;; esac',
    )
    assert run(checkout) == ""
    wrapper = (checkout / ".venv" / "bin" / "chromium").read_text()
    assert 'exec "/opt/own/chrome" "$@"' in wrapper


def test_none_can_be_had(checkout: Path) -> None:
    write_tool(checkout / "bin" / "apt-get", "exit 1")
    write_tool(checkout / ".venv" / "bin" / "python", "exit 1")
    assert "tests of pages are skipped" in run(checkout)
