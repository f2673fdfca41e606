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
    """For each opponent the networks' choices, and their errors by group of cards."""
    tables = []
    for opponent, measured in result["opponents"].items():
        networks = measured["networks"]
        choices = []
        for label, of in networks.items():
            squared = mean_of_blocks(of["squared"]).value
            root = "-" if squared is None else f"{np.sqrt(squared):.1f}"
            cells = {"root mean square error between cards": root}
            choices.append(Line(label, mean_of_blocks(of["choice"]), cells=cells))
        title = f"Against {opponent}, {measured['decisions']} decisions"
        tables.append(FigureTable("points that its best card wins over the mean", choices, title))
        groups = list(dict.fromkeys(group for of in networks.values() for group in of["groups"]))
        errors = []
        for group in groups:
            by_network = {k: mean_of_blocks(of["groups"][group]).text for k, of in networks.items()}
            errors.append(Line(group, cells=by_network))
        tables.append(FigureTable("error between cards", errors, f"Against {opponent}", fold=True))
    return tables
