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
    """Sums of each game or draw, [n, ...], as those of up to 20 blocks, for a results file."""
    count = len(next(iter(sums.values())))
    block = np.arange(count) * min(BLOCKS, count) // count
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    return {
        name: _rounded(np.add.reduceat(np.asarray(leaf, np.float64), starts, axis=0))
        for name, leaf in sums.items()
    }


def _rounded(array: np.ndarray) -> list:
    digits = 7 - np.ceil(np.log10(np.maximum(np.abs(array), 1e-9)))
    return (np.round(array * 10.0**digits) / 10.0**digits).tolist()


def with_errors(statistic: Statistic, blocks: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """A statistic of the totals, and its standard error by leaving out one block at a time."""
    arrays = {name: np.array(leaf, np.float64) for name, leaf in blocks.items()}
    total = {name: leaf.sum(axis=0) for name, leaf in arrays.items()}
    with np.errstate(divide="ignore", invalid="ignore"):
        value = statistic(total)
        without = statistic({name: total[name] - leaf for name, leaf in arrays.items()})
    # Where a block holds all positions of a card, nothing can be said without it.
    known = np.isfinite(without)
    count = known.sum(axis=0)
    mean = np.where(known, without, 0.0).sum(axis=0) / np.maximum(count, 1)
    squares = np.where(known, (without - mean) ** 2, 0.0).sum(axis=0)
    variance = squares * (count - 1) / np.maximum(count, 1)
    return value, np.where(np.isfinite(value) & (count > 1), np.sqrt(variance), np.nan)


def mean_of(name: str, count: str = "count") -> Statistic:
    """The statistic sum / count."""
    return lambda totals: totals[name] / totals[count]


def deviation_of(name: str, square: str, count: str = "count") -> Statistic:
    """The statistic standard deviation, from sums of values and of their squares."""

    def deviation(totals: Sums) -> np.ndarray:
        mean = totals[name] / totals[count]
        return np.sqrt(np.maximum(totals[square] / totals[count] - mean**2, 0.0))

    return deviation


def figure(value: Any, error: Any, digits: int = 1) -> Figure:
    """A number with its error as pages show it; nan is nothing."""
    return Figure(*(None if np.isnan(x) else float(x) for x in (value, error)), digits=digits)
