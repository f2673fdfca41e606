"""What a run has come to, in a few lines at its end."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.common.progress import in_words


def run_summary(
    rows: Sequence[Mapping[str, float]], directory: Path, epochs: int, score: str
) -> list[str]:
    """Lines for the terminal, from the log of a run: how far it is, the best and the last of its
    scores, and what can be done with it now."""
    last = rows[-1]
    done = f"{last['epoch']} of {epochs} epochs, {last['games']:,} games"
    lines = [f"{done} in {in_words(last['seconds'])} of training"]
    measured = [row for row in rows if score in row]
    if measured:
        best = max(measured, key=lambda row: row[score])
        lines.append(
            f"best {score} {_with_error(best, score)}, after epoch {best['epoch']}, the one that "
            f"players load; last {_with_error(measured[-1], score)}"
        )
    return [*lines, f"log.jsonl and tensorboard/ are in {directory}"]


def _with_error(row: Mapping[str, float], score: str) -> str:
    error = row.get(f"{score}_stderr")
    return f"{row[score]:.1f}" + (f" +- {error:.1f}" if error is not None else "")
