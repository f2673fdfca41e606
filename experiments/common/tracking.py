"""Logs of a run: one JSON line per epoch, and the same numbers for TensorBoard."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from tensorboardX import SummaryWriter

LOG_NAME = "log.jsonl"


class RunLog:
    """`log.jsonl` and TensorBoard events in the folder of a run.

    A run that goes on from an earlier epoch first drops the lines after it, so that the log of a
    run that was killed and resumed reads as that of one that was not.
    """

    def __init__(self, directory: str | Path, start_epoch: int):
        self.path = Path(directory) / LOG_NAME
        self.path.parent.mkdir(parents=True, exist_ok=True)
        _keep_until(self.path, start_epoch)
        self._file = self.path.open("a")
        self._board = SummaryWriter(
            str(self.path.parent / "tensorboard"), purge_step=start_epoch + 1, flush_secs=20
        )

    def __enter__(self) -> "RunLog":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
        self._board.close()

    def write(self, row: Mapping[str, float]) -> None:
        self._file.write(json.dumps(row) + "\n")
        self._file.flush()
        for name, value in row.items():
            if name != "epoch":
                self._board.add_scalar(name, value, int(row["epoch"]))


def curve_points(rows: Sequence[Mapping[str, float]], score: str = "wpg") -> list[dict[str, float]]:
    """Of the epochs after which the network was measured: epoch, games, hours, score."""
    return [
        {
            "epoch": row["epoch"],
            "games": row["games"],
            "hours": row["seconds"] / 3600,
            score: row[score],
            f"{score}_stderr": row[f"{score}_stderr"],
        }
        for row in rows
        if score in row
    ]


def read_log(path: str | Path) -> list[dict[str, float]]:
    """The rows of a log; a last line cut short by a kill is passed over."""
    rows = []
    for line in Path(path).read_text().splitlines():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return rows


def _keep_until(path: Path, epoch: int) -> None:
    if not path.exists():
        return
    kept = [row for row in read_log(path) if row["epoch"] <= epoch]
    fresh = path.with_suffix(".tmp")
    fresh.write_text("".join(json.dumps(row) + "\n" for row in kept))
    os.replace(fresh, path)
