"""The paper's two figures of the network's input, drawn from the encoding that the code uses.

    python -m experiments.paper.input_figures

Both show one position, the first of the worked examples. input_diffuse.png: the cards on the table
as one-hot and as they are given, diffused over three cells. input_averaged.png: the hands with the
cards of the others known, and averaged as IEC gives them. The result has `parts` of the input.
"""

import sys
from pathlib import Path

import jax
import numpy as np

from experiments.common.cli import Result, experiment
from experiments.common.plots import drawing
from experiments.common.results import Workplace
from experiments.common.settings import KeptSettings
from experiments.paper.published import worked_positions
from gongzhu_jax.game import make_view
from gongzhu_jax.game.cards import CARD_NAMES, NO_CARD, NUM_CARDS, NUM_SEATS
from gongzhu_jax.game.public_view import with_deal
from gongzhu_jax.inference.sampling import sample
from gongzhu_jax.network.features import DIFFUSE, encode, encode_averaged, feature_slices

EXAMPLE = "DJ cooperation"
_SEATS = ("me", "next", "partner", "previous")
_SLOTS = ("latest card", "the one before", "the first of three")


def inputs(seed: int) -> dict[str, np.ndarray]:
    """The parts of the input that the figures show."""
    view = make_view(**worked_positions()[EXAMPLE])
    state = with_deal(view, sample(jax.random.key(seed), view, 1)[0])
    known, averaged = (np.asarray(encoder(state)) for encoder in (encode, encode_averaged))
    slices = feature_slices()
    table = [card for card in np.asarray(view.trick).tolist() if card != NO_CARD]
    plain = np.zeros((NUM_SEATS - 1, NUM_CARDS))
    plain[np.arange(len(table)), table[::-1]] = 1  # the latest first, as the encoding has them
    return {
        "plain": plain,
        "diffused": known[slices["trick"]].reshape(NUM_SEATS - 1, -1),
        "hands": known[slices["hands"]].reshape(NUM_SEATS, -1),
        "averaged": averaged[slices["hands"]].reshape(NUM_SEATS, -1),
    }


def draw_pair(rows: list[tuple[np.ndarray, str]], labels: tuple[str, ...], path: Path) -> None:
    """Two blocks of cells below each other, with the names of the cards."""
    with drawing(path, 2, figsize=(12, 4.2)) as panels:
        for axes, (cells, title) in zip(panels, rows, strict=True):
            axes.pcolormesh(
                cells, cmap="Greens", vmin=0, vmax=1.2, edgecolors="0.85", linewidth=0.3
            )
            axes.invert_yaxis()
            margin = (cells.shape[1] - NUM_CARDS) // 2
            axes.set_xticks(
                np.arange(NUM_CARDS) + margin + 0.5, CARD_NAMES, rotation=90, fontsize=6
            )
            axes.set_yticks(np.arange(len(labels)) + 0.5, labels, fontsize=8)
            axes.tick_params(length=0)
            axes.set_title(title, fontsize=10, loc="left")


def run(settings: KeptSettings, work: Workplace) -> Result:
    return {"parts": {name: part.tolist() for name, part in inputs(settings.seed).items()}}


def draw(result: Result, folder: Path) -> None:
    parts = {name: np.array(part) for name, part in result["parts"].items()}
    draw_pair(
        [
            (parts["plain"], f"one-hot: {NUM_CARDS} cells for each card of the trick"),
            (parts["diffused"], f"given to the network: {DIFFUSE} cells lit of {NUM_CARDS + 2}"),
        ],
        _SLOTS,
        folder / "input_diffuse.png",
    )
    draw_pair(
        [
            (parts["hands"], "hands known: 1 for each card at its holder"),
            (parts["averaged"], "averaged: 1/3 for each unseen card at each of the others"),
        ],
        _SEATS,
        folder / "input_averaged.png",
    )


main = experiment("paper/input_figures", KeptSettings, run, draw)

if __name__ == "__main__":
    sys.exit(main())
