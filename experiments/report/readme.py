"""The table on the first screen of the README: the paper, its settings here, and our strongest."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments.common.results import PLACES, read_result
from experiments.paper.published import paper_numbers
from experiments.report.markdown import markdown
from gongzhu_jax.game.cards import NUM_CARDS
from gongzhu_jax.network import weights
from gongzhu_jax.opponents import card_belief, opponent_model

TO_BE_PLAYED = "to be played"
PAPER_TRAINING = "4160 epochs, each less than a minute on a 2080 Ti GPU"
PLAYERS = {
    "scrofa": "ours, at the paper's settings (`scrofa`)",
    "scrofa-strong": "our strongest (`scrofa-strong`)",
}
NETWORKS = {
    "scrofa": (weights.POLICY_VALUE.shipped,),
    "scrofa-strong": (
        weights.POLICY_VALUE.named[weights.CRITIC],
        card_belief.KIND.shipped,
        opponent_model.KIND.shipped,
    ),
}
"""Weights files that each player needs, for the hours of training behind them."""


def first_table() -> str:
    """Points over Mr. Greed as in the result of `compare rows=strength`; hours of training from the
    headers of the weights."""
    document = read_result(PLACES.results / "strength.json")
    rows: dict[str, Any] = document["result"]["rows"] if document else {}
    paper = next(n for n in paper_numbers("strength", "scrofa") if n.where == "text")
    lines = [
        ["", "points over Mr. Greed", "training", "cards a second in that match"],
        ["the paper", paper.text, PAPER_TRAINING, "not stated"],
    ]
    for name, title in PLAYERS.items():
        hours = f"{sum(map(training_hours, NETWORKS[name])):.1f} hours on two CPU cores"
        lines.append([title, *_played(rows.get(name), hours)])
    return markdown(lines)


def _played(row: dict[str, Any] | None, hours: str) -> Iterator[str]:
    yield f"{row['mean']:.1f} ± {row['standard_error']:.1f}" if row else TO_BE_PLAYED
    yield hours
    yield f"{NUM_CARDS * row['games_per_second']:.0f}" if row else TO_BE_PLAYED


def training_hours(path: Path) -> float:
    """Hours of training behind a weights file, those of the runs that it started from included."""
    hours = 0.0
    run: dict[str, Any] | None = weights.about_weights(path)
    while run is not None:
        hours += run["hours"]
        run = run.get("start")
    return hours
