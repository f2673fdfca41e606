"""The section and the picture of `experiments.value_bias`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experiments.report.figures import Figure, Line, Table

Sums = Mapping[str, list[float]]


def mean_of_blocks(sums: Sums) -> Figure:
    """The mean over all rows, and its standard error from the blocks (ratio estimate)."""
    total, count = np.array(sums["sum"]), np.array(sums["count"], float)
    used = count > 0
    total, count = total[used], count[used]
    if count.sum() < 2 or len(count) < 2:
        return Figure(None)
    mean = total.sum() / count.sum()
    residual = total - mean * count
    error = np.sqrt(np.sum(residual**2) * len(count) / (len(count) - 1)) / count.sum()
    return Figure(float(mean), float(error))


def tables_and_remarks(result: Mapping[str, Any]) -> tuple[list[Table], list[str]]:
    tables = []
    for opponent, measured in result["opponents"].items():
        networks = measured["networks"]
        groups = list(dict.fromkeys(group for of in networks.values() for group in of["groups"]))
        summary = [
            Line(
                label,
                mean_of_blocks(of["choice"]),
                cells={
                    "root mean square error between cards": _root(mean_of_blocks(of["squared"]))
                },
            )
            for label, of in networks.items()
        ]
        title = f"Against {opponent}, {measured['decisions']} decisions"
        tables.append(Table("points that its best card wins over the mean", summary, title))
        lines = [
            Line(
                group,
                None,
                cells={
                    label: mean_of_blocks(of["groups"][group]).text
                    for label, of in networks.items()
                },
            )
            for group in groups
        ]
        tables.append(Table("error between cards", lines, f"Against {opponent}", fold=True))
    return tables, []


def _root(figure: Figure) -> str:
    return "-" if figure.value is None else f"{np.sqrt(figure.value):.1f}"


def plot_value_bias(result: Mapping[str, Any], folder: Path) -> None:
    """Mean error between the cards of one decision, by kind of card, for each network."""
    from experiments.common.plots import drawing

    opponents = result["opponents"]
    rows = len(opponents)
    path = folder / "value_bias.png"
    with drawing(path, rows, 2, figsize=(13, 4.2 * rows), squeeze=False) as axes:
        for line, (opponent, measured) in zip(axes, opponents.items(), strict=True):
            for place, prefix in zip(line, ("lead ", "play "), strict=True):
                for shift, (label, of) in enumerate(measured["networks"].items()):
                    names = [name for name in of["groups"] if name.startswith(prefix)]
                    figures = [mean_of_blocks(of["groups"][name]) for name in names]
                    place.errorbar(
                        np.arange(len(names)) + 0.15 * shift,
                        [figure.value or 0.0 for figure in figures],
                        [figure.error or 0.0 for figure in figures],
                        fmt="o",
                        label=label,
                    )
                    place.set_xticks(range(len(names)), [n.removeprefix(prefix) for n in names])
                what = "leading" if prefix == "lead " else "following"
                place.tick_params(axis="x", rotation=30)
                place.axhline(0, color="0.8", linewidth=1)
                place.set(title=f"against {opponent}, {what}", ylabel="points too high")
            line[0].legend(fontsize=8)
