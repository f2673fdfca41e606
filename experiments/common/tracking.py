"""Logs of a run: one JSON line per epoch; TensorBoard and other loggers get the same numbers, and
the terminal a few lines."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from tensorboardX import SummaryWriter

from experiments.common.loggers import Logger
from experiments.common.progress import in_words
from gongzhu_jax.files import write_whole

LOG_NAME = "log.jsonl"


class RunLog:
    """`log.jsonl` and TensorBoard events in the folder of a run.

    A run that goes on from an earlier epoch first drops the lines after it, and one that starts
    again all lines, so that the log of a run that was killed and resumed reads as that of one that
    was not.
    """

    def __init__(self, directory: Path, start_epoch: int, loggers: Sequence[Logger] = ()) -> None:
        self.path = directory / LOG_NAME
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            rows = read_log(self.path) if start_epoch else []
            kept = [row for row in rows if row["epoch"] <= start_epoch]
            write_whole(self.path, "".join(json.dumps(row) + "\n" for row in kept).encode())
        self._file = self.path.open("a")
        self._loggers = loggers
        self._board = SummaryWriter(
            str(self.path.parent / "tensorboard"), purge_step=start_epoch + 1, flush_secs=20
        )

    def __enter__(self) -> "RunLog":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._board.close()
        for logger in self._loggers:
            logger.close()

    def write(self, row: Mapping[str, float]) -> None:
        self._file.write(json.dumps(row) + "\n")
        self._file.flush()
        for name, value in row.items():
            if name != "epoch":
                self._board.add_scalar(name, value, int(row["epoch"]))
        for logger in self._loggers:
            logger.write(row)


def curve_points(rows: Sequence[Mapping[str, float]], score: str = "wpg") -> list[dict[str, float]]:
    """Epoch, games, hours, score and, of a distilled policy, regret wherever the network was
    measured."""
    names = ("epoch", "games", "hours", score, f"{score}_stderr", "regret")
    return [
        {name: known[name] for name in names if name in known}
        for row in rows
        if score in row
        for known in [{**row, "hours": row["seconds"] / 3600}]
    ]


def read_log(path: Path) -> list[dict[str, float]]:
    """The rows of a log; a last line cut short by a kill is passed over."""
    rows = []
    for line in path.read_text().splitlines():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return rows


def run_summary(
    rows: Sequence[Mapping[str, float]], directory: Path, epochs: int, score: str
) -> list[str]:
    """Lines for the terminal, from the log of a run: how far it is, the best and the last of its
    scores, and what can be done with it now."""
    last = rows[-1]
    done = f"{last['epoch']} of {epochs} epochs, {last['games']:,} games"
    lines = [f"{done} in {in_words(last['seconds'])} of training"]
    if measured := [row for row in rows if row["epoch"] and score in row]:
        best = max(measured, key=lambda row: row[score])
        lines.append(
            f"best {score} {with_error(best, score)}, after epoch {best['epoch']}, the one that "
            f"players load; last {with_error(measured[-1], score)}"
        )
    return [*lines, f"log.jsonl and tensorboard/ are in {directory}"]


def epoch_line(row: Mapping[str, float], score: str) -> str:
    """An epoch for the terminal: how far the run is, its pace, its losses and what was measured."""
    names = [name for name in row if name.endswith("loss") or name in (score, "regret")]
    pace = f"{row['seconds'] / 60:.1f} min  {row['games_per_second']:.0f} games/s"
    figures = (f"{name.replace('_', ' ')} {with_error(row, name)}" for name in names)
    return "  ".join([f"epoch {row['epoch']}  {row['games']} games  {pace}", *figures])


def with_error(row: Mapping[str, float], name: str) -> str:
    """A figure of a row, in points or nats, with its standard error if it has one."""
    digits, error = 1 if name == "wpg" else 4, row.get(f"{name}_stderr")
    return f"{row[name]:.{digits}f}" + (f" +- {error:.{digits}f}" if error is not None else "")
