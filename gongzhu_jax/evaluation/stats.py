"""Statistics of matches: estimates over deals, paired comparison, and the paper's intransitivity.

Supplement "Details for Evaluation System". Plain numpy; one observation is one deal.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from gongzhu_jax.errors import ConfigError

NORMAL_95 = 1.959964
"""Half width of a 95 % interval in standard errors."""


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard error, which is nan for a single observation."""

    mean: float
    standard_error: float
    count: int

    @property
    def interval(self) -> tuple[float, float]:
        """95 % confidence interval."""
        half = NORMAL_95 * self.standard_error
        return self.mean - half, self.mean + half

    def summary(self) -> dict[str, Any]:
        """The estimate as plain types, for a results file."""
        return {
            "mean": self.mean,
            "standard_error": number(self.standard_error),
            "interval_95": [number(bound) for bound in self.interval],
            "deals": self.count,
        }


def number(value: float) -> float | None:
    """A number as JSON can hold it: None for nan."""
    return None if np.isnan(value) else float(value)


def estimate(observations: np.ndarray) -> Estimate:
    """Mean and standard error of independent observations, [n]."""
    values = np.asarray(observations, np.float64)
    if values.ndim != 1 or not len(values):
        raise ConfigError(f"an estimate needs a row of observations, not shape {values.shape}")
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return Estimate(float(values.mean()), float(error), len(values))


def win_rate(margins: np.ndarray) -> float:
    """Share of deals with a positive margin, which is how the paper counts wins."""
    return float(np.mean(np.asarray(margins) > 0))


def draw_rate(margins: np.ndarray) -> float:
    """Share of deals with margin zero."""
    return float(np.mean(np.asarray(margins) == 0))


def paired_difference(margins: np.ndarray, others: np.ndarray) -> Estimate:
    """How much better one player does than another against the same third, on the same deals, [n].

    The luck of the deal cancels out, so the standard error is that of the differences.
    """
    first, second = np.asarray(margins, np.float64), np.asarray(others, np.float64)
    if first.shape != second.shape:
        raise ConfigError(f"pairs need the same deals, not shapes {first.shape}, {second.shape}")
    return estimate(first - second)


def intransitivity(xi: np.ndarray) -> np.ndarray:
    """The paper's epsilon: 0 for totally transitive results, 1 for totally intransitive ones.

    Args:
      xi: [..., players, players], mean margins, first over second. The result is [...].
    """
    xi = np.asarray(xi, np.float64)
    players = xi.shape[-1]
    if xi.ndim < 2 or xi.shape[-2] != players or players < 3:
        raise ConfigError(f"epsilon needs a square of three or more players, not {xi.shape}")
    i, j, k = np.array(list(combinations(range(players), 3))).T
    defect = np.abs(xi[..., i, j] + xi[..., j, k] - xi[..., i, k])
    size = np.abs(xi[..., i, j]) + np.abs(xi[..., j, k]) + np.abs(xi[..., i, k])
    above, below = (defect**2).sum(-1), (defect * size).sum(-1)
    # No defect anywhere: transitive, also when all players are equal.
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def intransitivity_sd(margins: np.ndarray, *, resamples: int = 1000, seed: int = 0) -> float:
    """Standard deviation of epsilon by bootstrap over deals.

    Args:
      margins: [players, players, deals], per deal, i over j. All pairs played the same deals, so a
        resample takes the same deals for every pair.
    """
    return float(_resampled(margins, resamples, seed).std(ddof=1))


def intransitivity_floor(margins: np.ndarray, *, resamples: int = 1000, seed: int = 0) -> float:
    """The epsilon to expect if the players were perfectly transitive. It cannot be negative, so
    chance alone, with the errors of these deals, makes it positive.

    The margins, as of `intransitivity_sd`, are shifted to the nearest transitive means, which are
    differences of one strength per player, and deals are drawn again.
    """
    means = np.mean(margins, axis=-1)
    strength = means.mean(axis=1)  # by least squares
    transitive = strength[:, None] - strength[None, :]
    shifted = np.asarray(margins) + (transitive - means)[..., None]
    return float(_resampled(shifted, resamples, seed).mean())


def _resampled(margins: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """Epsilon of deals drawn again, [resamples]."""
    deals = np.shape(margins)[-1]
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(deals, np.full(deals, 1 / deals), size=resamples) / deals
    return intransitivity(np.einsum("ijd,rd->rij", margins, drawn))
