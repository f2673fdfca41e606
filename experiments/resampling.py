"""Figures of many games with standard errors by bootstrap over the games."""

from collections.abc import Callable

import numpy as np

from experiments.positions import Sums

RESAMPLES = 300


def with_errors(
    statistic: Callable[[Sums], np.ndarray], sums: Sums, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """A statistic of the totals over games, and its standard error.

    Args:
      statistic: of totals [..., cards]; nan where there is nothing to tell.
      sums: of each game, [games, cards].
    """
    games = len(next(iter(sums.values())))
    weights = np.random.default_rng(seed).multinomial(
        games, np.full(games, 1 / games), size=RESAMPLES
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        value = statistic({name: leaf.sum(axis=0) for name, leaf in sums.items()})
        resampled = statistic({name: weights @ leaf for name, leaf in sums.items()})
    # A resample that happens to have none of a card's positions says nothing about it.
    known = np.isfinite(resampled)
    count = known.sum(axis=0)
    mean = np.where(known, resampled, 0.0).sum(axis=0) / np.maximum(count, 1)
    variance = np.where(known, (resampled - mean) ** 2, 0.0).sum(axis=0) / np.maximum(count - 1, 1)
    return value, np.where(np.isfinite(value) & (count > 1), np.sqrt(variance), np.nan)


def mean_of(name: str, count: str = "count") -> Callable[[Sums], np.ndarray]:
    """The statistic sum / count."""
    return lambda totals: totals[name] / totals[count]


def deviation_of(name: str, square: str, count: str = "count") -> Callable[[Sums], np.ndarray]:
    """The statistic standard deviation, from sums of values and of their squares."""

    def deviation(totals: Sums) -> np.ndarray:
        mean = totals[name] / totals[count]
        return np.sqrt(np.maximum(totals[square] / totals[count] - mean**2, 0.0))

    return deviation
