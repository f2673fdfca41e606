"""Measuring how often something can be done in a second."""

import time
from collections.abc import Callable
from typing import Any

import jax


def rate(work: Callable[[], Any], units: float, *, repeats: int = 3, seconds: float = 0.3) -> float:
    """Units of work per second, best of `repeats`, when one call does `units` of it.

    The first call is not counted: it compiles. Each measurement lasts at least about `seconds`.
    """
    jax.block_until_ready(work())
    calls = max(1, round(seconds / _time(work, 1)))
    return units * calls / min(_time(work, calls) for _ in range(repeats))


def _time(work: Callable[[], Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        jax.block_until_ready(work())
    return time.perf_counter() - start
