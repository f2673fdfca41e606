"""Measuring, showing and keeping results: everything that the experiments have in common."""

import json
import os
import platform
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jax
import jaxlib
from rich.console import Console
from rich.table import Table

from gongzhu_jax.files import write_whole

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results"
_clock = {"started": time.monotonic()}


def start_clock() -> None:
    """A command begins: a process may run several, one after the other."""
    _clock["started"] = time.monotonic()


def rate(work: Callable[[], Any], units: float, *, repeats: int = 3, seconds: float = 0.3) -> float:
    """Units of work per second, best of `repeats`, when one call does `units` of it.

    The first call is not counted: it compiles. Each measurement lasts at least about `seconds`.
    """
    jax.block_until_ready(work())
    calls = max(1, round(seconds / _time(work, 1)))
    return units * calls / min(_time(work, calls) for _ in range(repeats))


def _time(work: Callable[[], Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        jax.block_until_ready(work())
    return time.perf_counter() - start


def recorded(line: str) -> str:
    """A command line without what only names a place on one machine and changes no result."""
    return " ".join(word for word in line.split() if not word.startswith("compilation_cache="))


def points(found: Mapping[str, Any]) -> str:
    """An estimate's summary as text: mean and standard error."""
    error = found["standard_error"]
    return f"{found['mean']:.1f}" + (f" ± {error:.1f}" if error is not None else "")


def write_result(
    name: str,
    result: Mapping[str, Any],
    command: str,
    config: Mapping[str, Any],
    seed: int | None,
    folder: Path | None = None,
) -> Path:
    """Writes results/<name>.json with all that one needs to know to get it again."""
    content = {
        "name": name,
        "command": command,
        "config": dict(config),
        "seed": seed,
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "seconds": round(time.monotonic() - _clock["started"], 1),  # since the command began
        "result": dict(result),
    }
    path = (folder or RESULTS) / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, (json.dumps(content, indent=1) + "\n").encode())
    return path


def commit() -> str:
    """The commit of the code, with "-dirty" if files other than results and their pictures differ
    from it."""
    try:
        head = _git("rev-parse", "HEAD")
        made_here = (":!results", ":!docs/*.png")
        changes = _git("--no-optional-locks", "status", "--porcelain", "--", ".", *made_here)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{head}-dirty" if changes else head


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def machine() -> dict[str, Any]:
    """What the numbers depend on; nothing that names the machine."""
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


def print_table(
    title: str, rows: Sequence[Mapping[str, Any]], console: Console | None = None
) -> None:
    """Rows with the same keys as a table; the keys are the heads."""
    table = Table(title=title)
    for name in rows[0] if rows else ():
        table.add_column(name.replace("_", " "), justify="left" if name == "what" else "right")
    for row in rows:
        table.add_row(*(_cell(value) for value in row.values()))
    (console or Console()).print(table)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return "" if value is None else str(value)
