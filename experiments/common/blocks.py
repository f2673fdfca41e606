"""Sums over blocks of games: small enough to be kept with a result, and enough to compute every
figure and its standard error from."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from experiments.report.figures import Figure

BLOCKS = 20
Sums = Mapping[str, np.ndarray]
Statistic = Callable[[Sums], np.ndarray]
"""Totals [...] by name -> a figure of them; nan where there is nothing to tell."""


def in_blocks(sums: Sums) -> dict[str, list]:
    """Sums of each game or draw, [n, ...], as those of up to 20 blocks, for a results file. They
    are rounded to seven digits."""
    count = len(next(iter(sums.values())))
    block = np.arange(count) * min(BLOCKS, count) // count
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    blocks = {}
    for name, leaf in sums.items():
        total = np.add.reduceat(np.asarray(leaf, np.float64), starts, axis=0)
        scale = 10.0 ** (7 - np.ceil(np.log10(np.maximum(np.abs(total), 1e-9))))
        blocks[name] = (np.round(total * scale) / scale).tolist()
    return blocks


def with_errors(statistic: Statistic, blocks: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """A statistic of the totals, and its standard error by leaving out one block at a time; nan
    where one block holds everything, as nothing can be said without it."""
    arrays = {name: np.array(leaf, np.float64) for name, leaf in blocks.items()}
    total = {name: leaf.sum(axis=0) for name, leaf in arrays.items()}
    with np.errstate(divide="ignore", invalid="ignore"):
        value = statistic(total)
        without = statistic({name: total[name] - leaf for name, leaf in arrays.items()})
        several = np.sqrt(len(without) - 1) if len(without) > 1 else np.nan
        return value, several * without.std(axis=0)


def figures(statistic: Statistic, blocks: Mapping[str, Any], digits: int = 1) -> list[Figure]:
    """A statistic with its errors as pages show it, one figure for each place; nan is nothing."""
    pairs = zip(*(np.ravel(part).tolist() for part in with_errors(statistic, blocks)), strict=True)
    return [Figure(*(None if np.isnan(x) else x for x in pair), digits=digits) for pair in pairs]


def mean_of(name: str, count: str = "count") -> Statistic:
    """The statistic sum / count."""
    return lambda totals: totals[name] / totals[count]


def deviation_of(name: str, square: str) -> Statistic:
    """The statistic standard deviation, from sums of values and of their squares."""

    def deviation(totals: Sums) -> np.ndarray:
        mean = totals[name] / totals["count"]
        return np.sqrt(np.maximum(totals[square] / totals["count"] - mean**2, 0.0))

    return deviation
