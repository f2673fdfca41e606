"""Keeps the curve of a training run as a result: `python -m experiments.training_report`.

    python -m experiments.training_report directory=runs/compact name=training_compact

The result has the run's own command, configuration and commit, `points` (epoch, games, hours, wpg,
wpg_stderr of the raw network on the development deals) and the totals; the picture goes to docs/.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.cli import DONE, command
from experiments.plots import plot_training
from experiments.results import ROOT, print_table, recorded, write_result
from experiments.tracking import LOG_NAME, read_log
from gongzhu_jax.checkpoint import LAST, Checkpoints
from gongzhu_jax.errors import CheckpointError


@dataclass(frozen=True, kw_only=True)
class ReportSettings:
    directory: str
    name: str
    picture: str


def summarise(directory: str | Path) -> dict[str, Any]:
    """The run in a folder, so far."""
    run = Checkpoints(directory)
    epochs = run.epochs(LAST)
    if not epochs:
        raise CheckpointError(f"there is no checkpoint in {directory}")
    about = run.about(LAST, epochs[-1])
    rows = [row for row in read_log(run.directory / LOG_NAME) if row["epoch"] <= epochs[-1]]
    points = [
        {
            "epoch": row["epoch"],
            "games": row["games"],
            "hours": row["seconds"] / 3600,
            "wpg": row["wpg"],
            "wpg_stderr": row["wpg_stderr"],
        }
        for row in rows
        if "wpg" in row
    ]
    return {
        "run_command": recorded(about["command"]),
        "run_commit": about["commit"],
        "run_config": about["config"],
        "games": rows[-1]["games"],
        "hours": rows[-1]["seconds"] / 3600,
        "points": points,
    }


@command("training_report", ReportSettings)
def main(settings: ReportSettings, line: str) -> int:
    found = summarise(settings.directory)
    print_table(f"{found['games']} games in {found['hours']:.2f} hours", found["points"])
    config = {"directory": settings.directory, "name": settings.name}
    write_result(settings.name, found, line, config, found["run_config"]["seed"])
    plot_training(read_log(Path(settings.directory) / LOG_NAME), ROOT / settings.picture)
    return DONE


if __name__ == "__main__":
    sys.exit(main())
