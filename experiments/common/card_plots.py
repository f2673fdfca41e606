"""Pictures of figures by card, ours beside the paper's."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from experiments.report.figures import Table
from gongzhu_jax.game.cards import RANK_NAMES, SUIT_NAMES

SUIT_TITLES = {"S": "spades", "H": "hearts", "D": "diamonds", "C": "clubs"}


def plot_by_card(table: Table, label: str, path: Path) -> None:
    """A table with one line for each card, ours beside the paper's."""
    lines = {line.label: line for line in table.rows}
    figure, panels = plt.subplots(2, 2, figsize=(10, 6.5), sharex=True, sharey=True)
    for axes, suit in zip(panels.flat, SUIT_NAMES, strict=True):
        rows = [lines[suit + rank] for rank in RANK_NAMES]
        paper = [row.paper[0].value for row in rows]
        axes.plot(RANK_NAMES, paper, "s-", color="0.6", label="read off the paper's figure")
        known = [
            (rank, row.figure)
            for rank, row in zip(RANK_NAMES, rows, strict=True)
            if row.figure and row.figure.value is not None
        ]
        axes.errorbar(
            [rank for rank, _ in known],
            [ours.value for _, ours in known],
            [ours.error or 0.0 for _, ours in known],
            fmt="o-",
            markersize=4,
            capsize=2,
            color="C0",
            label="ours (± one standard error)",
        )
        axes.set_title(SUIT_TITLES[suit])
        axes.grid(color="0.92")
    panels[0, 0].legend()
    figure.supylabel(label)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
