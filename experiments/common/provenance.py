"""Which code made a number, when, and on what machine."""

import functools
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jax
import jaxlib

from gongzhu_jax.evaluation.fingerprint import source_digest

ROOT = Path(__file__).parent.parent.parent
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
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def machine() -> dict[str, Any]:
    """What the numbers depend on."""
    devices = jax.devices()
    return {
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "devices": f"{len(devices)} x {devices[0].device_kind}",
        "platform": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "jax": jax.__version__,
        "jaxlib": jaxlib.__version__,
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else "unknown"
