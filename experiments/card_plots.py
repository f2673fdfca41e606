"""Pictures of figures by card, ours beside the paper's."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from gongzhu_jax.game.cards import RANK_NAMES, SUIT_NAMES

SUIT_TITLES = {"S": "spades", "H": "hearts", "D": "diamonds", "C": "clubs"}


def plot_by_card(
    cards: Mapping[str, Mapping[str, Any]], name: str, label: str, path: str | Path
) -> None:
    """Figure `name` of all cards, with `<name>_standard_error` and `paper_<name>` of each."""
    figure, panels = plt.subplots(2, 2, figsize=(10, 6.5), sharex=True, sharey=True)
    for axes, suit in zip(panels.flat, SUIT_NAMES, strict=True):
        rows = [cards[suit + rank] for rank in RANK_NAMES]
        axes.plot(
            RANK_NAMES, [row[f"paper_{name}"] for row in rows], "s-", color="0.6", label="paper"
        )
        known = [item for item in zip(RANK_NAMES, rows, strict=True) if _known(item[1], name)]
        axes.errorbar(
            [rank for rank, _ in known],
            [row[name] for _, row in known],
            [row[f"{name}_standard_error"] for _, row in known],
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


def _known(row: Mapping[str, Any], name: str) -> bool:
    return row[name] is not None and row[f"{name}_standard_error"] is not None
