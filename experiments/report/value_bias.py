"""The tables of `experiments.value_bias`."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.common.blocks import figures, mean_of
from experiments.report.figures import Figure, FigureTable, Line


def mean_of_blocks(sums: Mapping[str, list[float]]) -> Figure:
    """The mean over all rows, and its standard error from the blocks."""
    return figures(mean_of("sum"), sums)[0]


def tables(result: Mapping[str, Any]) -> list[FigureTable]:
    """For each opponent what the networks' choices win and how large their errors are by part of
    the game, and the errors by kind of card."""
    tables = []
    for opponent, measured in result["opponents"].items():
        networks = measured["networks"]
        first = next(iter(networks.values()))
        parts = []
        for part in first["parts"]:
            cells = {}
            for label, of in networks.items():
                squared = mean_of_blocks(of["parts"][part]["squared"]).value
                cells[f"{label}: wins"] = mean_of_blocks(of["parts"][part]["choice"]).text
                cells[f"{label}: error"] = "-" if squared is None else f"{np.sqrt(squared):.0f}"
            parts.append(Line(part, cells=cells))
        title = (
            f"Against {opponent}, {measured['decisions']} decisions: points that its best card "
            "wins over the mean card, and root mean square error between cards"
        )
        tables.append(FigureTable("part of the game", parts, title))
        errors = []
        for kind in first["cards"]:
            means = {label: mean_of_blocks(of["cards"][kind]) for label, of in networks.items()}
            errors.append(Line(kind, figures=means))
        title = f"Against {opponent}: mean error between cards"
        tables.append(FigureTable("card", errors, title, fold=True))
    return tables
