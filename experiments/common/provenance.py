"""Which code made a number, when, and on what machine."""

import functools
import platform
import re
import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jax
import jaxlib

from gongzhu_jax import runtime
from gongzhu_jax.evaluation.fingerprint import source_digest

_CODE = Path(__file__).parent.parent.parent
ROOT = _CODE if (_CODE / "pyproject.toml").is_file() else Path.cwd()
"""Where results go: to the checkout, or to the current folder where the package was installed."""
NOT_CODE = (":!results", ":!docs", ":!*.md")
"""Files that decide no outcome: what is published, and pages for people."""


def provenance(command: str) -> dict[str, Any]:
    """What is kept beside every number; nothing in it names the machine."""
    return {
        "commit": commit(),
        "clean": is_clean(),
        "source": source_digest(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "command": command,
    }


def runs_behind(about: Mapping[str, Any] | None) -> Iterator[Mapping[str, Any]]:
    """What a checkpoint or a weights file says of the runs behind it, the last one first."""
    while about is not None:
        yield about
        about = about.get("start")


@functools.cache
def commit() -> str:
    """The commit of the code, "unknown" outside a repository."""
    return _git("rev-parse", "HEAD") or "unknown"


@functools.cache
def is_clean() -> bool:
    """Whether all files but results and pages are as they were committed."""
    if commit() == "unknown":
        return False
    changes = _git("--no-optional-locks", "status", "--porcelain", "--", ".", *NOT_CODE)
    return changes == ""


def _git(*arguments: str) -> str | None:
    try:
        return subprocess.check_output(
            ["git", *arguments], cwd=ROOT, stderr=subprocess.DEVNULL, text=True
        ).strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def machine() -> dict[str, Any]:
    """What the numbers depend on."""
    devices = jax.devices()
    listed = Path("/proc/cpuinfo")  # Linux alone has it
    facts = listed.read_text() if listed.exists() else ""
    model = re.search(r"^model name\s*: (.*)$", facts, re.MULTILINE)
    return {
        "cpu": model[1].strip() if model else platform.processor() or "unknown",
        "cores": runtime.available_cores(),
        "devices": f"{len(devices)} x {devices[0].device_kind}",
        "platform": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "jax": jax.__version__,
        "jaxlib": jaxlib.__version__,
    }
