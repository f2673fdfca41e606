"""Pictures of how networks learn, beside the published curve."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.plots import Rows, bars, drawing
from experiments.paper.published import curve, paper_numbers, paper_training


def _level(axes: Any, name: str, level: float) -> None:
    axes.axhline(level, color="0.8", linewidth=1)
    axes.annotate(name, (0.01, level), xycoords=("axes fraction", "data"), fontsize=8, va="bottom")


def _paper_levels(axes: Any) -> None:
    for name in ("Mr. If", "Mr. Random"):
        _level(axes, f"{name} (paper)", paper_numbers("training_curve", name)[0].value)


def _curves(axes: Any, points: Rows, x: str, first: float, ours: str, theirs: str) -> None:
    """The raw network while it trained, and the original's; the axis of `x` is logarithmic, so
    that it begins at `first`."""
    logs = [(max(row[x], first), row["wpg"], row["stderr"]) for row in curve()]
    bars(axes, logs, theirs, fmt="s-", markersize=3, color="0.65")
    mine = [(row[x], row["wpg"], row["wpg_stderr"]) for row in points]
    bars(axes, mine, ours, fmt="o-", markersize=3)
    _level(axes, "Mr. Greed", 0.0)
    axes.set(xscale="log", xlabel=x)


def plot_training(points: Rows, rows: Rows, path: Path) -> None:
    """WPG by games and by hours (`points`) beside the original's run, and losses (`rows`)."""
    with drawing(path, 1, 3, figsize=(15, 4.5)) as (by_games, by_hours, losses):
        for axes, x, first in ((by_games, "games", 1000.0), (by_hours, "hours", 0.01)):
            _curves(axes, points, x, first, "ours", "original's logs (one GPU)")
            _paper_levels(axes)
            _seeds_band(axes, rows, x)
            axes.set_ylabel("raw network, points over Mr. Greed")
            axes.legend(loc="lower right")
        games = [row["games"] / 1000 for row in rows]
        right = losses.twinx()
        for axes, name, what, color in (
            (losses, "policy_loss", "policy loss, KL", "C0"),
            (right, "value_loss", "value loss, points", "C1"),
        ):
            axes.plot(games, [row[name] for row in rows], color=color, linewidth=0.6)
            axes.set_ylabel(what, color=color)
        losses.set(xlabel="thousand games of the last run")


SCORES: Mapping[str, str] = {
    "wpg": "points over Mr. Greed",
    "gain": "nats better than uniform",
    "regret": "regret in points by the teacher's Q",
}
"""What a network that learns from games of a mixture is measured by."""


def plot_mixture_training(points: Rows, path: Path) -> None:
    """The scores that `points` have, by games."""
    scores = [name for name in SCORES if name in points[0]]
    with drawing(path, 1, len(scores), figsize=(6 * len(scores), 4), squeeze=False) as (panels,):
        for axes, score in zip(panels, scores, strict=True):
            error = f"{score}_stderr"
            mine = [(row["games"] / 1000, row[score], row.get(error)) for row in points]
            bars(axes, mine, score, fmt="o-", markersize=3, capsize=2)
            axes.set(xlabel="thousand games", ylabel=SCORES[score])
            axes.grid(alpha=0.3)


def _seeds_band(axes: Any, rows: Rows, x: str) -> None:
    """Fills the band from the worst to the best of several runs that differ in their seeds."""
    of_seeds = [[row[name] for name in row if name.startswith("wpg_seed_")] for row in rows]
    measured = [(row, values) for row, values in zip(rows, of_seeds, strict=True) if values]
    if measured:
        places = [row["seconds"] / 3600 if x == "hours" else row[x] for row, _ in measured]
        low, high = ([bound(values) for _, values in measured] for bound in (min, max))
        axes.fill_between(places, low, high, color="C0", alpha=0.2, label="all seeds")


def plot_curve(result: Mapping[str, Any], folder: Path) -> None:
    """The paper's figure: raw network and full player by games, and the classical players."""
    (full,) = paper_numbers("training_curve", "full player")
    matches = result["rows"]
    with drawing(folder / "training_curve_full.png", figsize=(9, 5.5)) as axes:
        first = min([point["games"] for point in result["curve"]] + [1000])
        labels = ("ours: raw network while training", "original's logs: raw network")
        _curves(axes, result["curve"], "games", first, *labels)
        paper = [(paper_training()["games"], full.value, full.error)]
        bars(axes, paper, "paper: full player", fmt="D", color="0.5", capsize=3)
        for kind, marker, color in (("raw network", "^", "C0"), ("full player", "D", "C3")):
            trained = [
                (games, matches[name]["mean"], matches[name]["standard_error"])
                for name, games in result["trained"].items()
                if name.startswith(kind) and games
            ]
            bars(axes, trained, f"ours: {kind}", fmt=marker, color=color, capsize=3)
        for name in ("Mr. Random", "Mr. If"):
            _level(axes, name, matches[name]["mean"])
        axes.set(xlabel="games of self-play", ylabel="points over Mr. Greed (WPG)")
        axes.legend(loc="lower right")


def plot_learning(result: Mapping[str, Any], folder: Path) -> None:
    """Raw networks by games, a line for each run with the range of its seeds, beside the original's
    run."""
    rows = result["rows"]
    with drawing(folder / f"{result['name']}.png", figsize=(9, 5.5)) as axes:
        last = max(int(games) for run in result["runs"].values() for games in run["points"])
        logs = [(row["games"], row["wpg"], row["stderr"]) for row in curve()]
        early = [row for row in logs if 0 < row[0] <= 1.2 * last]
        bars(axes, early, "original's logs", fmt="s-", markersize=3, color="0.65")
        for number, (name, run) in enumerate(result["runs"].items()):
            places = np.array([int(games) for games in run["points"]])
            means = np.array([[rows[row]["mean"] for row in of] for of in run["points"].values()])
            errors = [rows[of[0]]["standard_error"] or 0.0 for of in run["points"].values()]
            alone = means.shape[1] == 1  # then the errors are those over deals
            points = zip(places, means.mean(axis=1), errors if alone else 0 * places, strict=True)
            bars(axes, points, name, fmt="o-", color=f"C{number}", markersize=3, capsize=2)
            low, high = means.min(axis=1), means.max(axis=1)
            axes.fill_between(places, low, high, color=f"C{number}", alpha=0.15)
        _paper_levels(axes)
        axes.set(xlabel="games of self-play", ylabel="raw network, points over Mr. Greed")
        axes.legend(loc="lower right", fontsize=8)
