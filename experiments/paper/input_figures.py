"""The paper's two figures of the network's input, drawn from the encoding that the code uses.

    python -m experiments.paper.input_figures

Both show one position, the first of the worked examples. input_diffuse.png: the cards on the table
as one-hot and as they are given, diffused over three cells. input_averaged.png: the hands with the
cards of the others known, and averaged as IEC gives them. The result has `parts` of the input.
"""

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
from gongzhu_jax.game.public_view import PublicView, with_deal
from gongzhu_jax.inference.sampling import sample
from gongzhu_jax.network.features import DIFFUSE, encode, encode_averaged, feature_slices

EXAMPLE = "DJ cooperation"
PICTURES = {  # file: labels of the rows, and titles of two parts of the input
    "input_diffuse.png": (
        ("latest card", "the one before", "the first of three"),
        {
            "plain": f"one-hot: {NUM_CARDS} cells for each card of the trick",
            "diffused": f"given to the network: {DIFFUSE} cells lit of {NUM_CARDS + 2}",
        },
    ),
    "input_averaged.png": (
        ("me", "next", "partner", "previous"),
        {
            "hands": "hands known: 1 for each card at its holder",
            "averaged": "averaged: 1/3 for each unseen card at each of the others",
        },
    ),
}


@jax.jit
def _encoded(key: jax.Array, view: PublicView) -> tuple[jax.Array, jax.Array]:
    """A position with the unseen cards dealt out, as the network sees it: all known, averaged."""
    state = with_deal(view, sample(key, view, 1)[0])
    return encode(state), encode_averaged(state)


def inputs(seed: int) -> dict[str, np.ndarray]:
    """The parts of the input that the figures show."""
    view = make_view(**worked_positions()[EXAMPLE])
    known, averaged = jax.device_get(_encoded(jax.random.key(seed), view))
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


def run(settings: KeptSettings, work: Workplace) -> Result:
    return {"parts": {name: part.tolist() for name, part in inputs(settings.seed).items()}}


def draw(result: Result, folder: Path) -> None:
    """Two blocks of cells below each other in both pictures, with the names of the cards."""
    for file, (labels, titles) in PICTURES.items():
        with drawing(folder / file, 2, figsize=(12, 4.2)) as panels:
            for axes, (part, title) in zip(panels, titles.items(), strict=True):
                cells = np.array(result["parts"][part])
                style = {"cmap": "Greens", "edgecolors": "0.85", "linewidth": 0.3}
                axes.pcolormesh(cells, vmin=0, vmax=1.2, **style)
                axes.invert_yaxis()
                first = (cells.shape[1] - NUM_CARDS) // 2 + 0.5
                ticks = np.arange(NUM_CARDS) + first
                axes.set_xticks(ticks, CARD_NAMES, rotation=90, fontsize=6)
                axes.set_yticks(np.arange(len(labels)) + 0.5, labels, fontsize=8)
                axes.tick_params(length=0)
                axes.set_title(title, fontsize=10, loc="left")


main = experiment("paper/input_figures", KeptSettings, run, draw)

if __name__ == "__main__":
    raise SystemExit(main())
