"""Golden data of the tests: gzipped JSON lines, and the evaluator some of them were made with."""

from __future__ import annotations

import functools
import gzip
import json
from pathlib import Path
from typing import Any

from tests.oracle import features
from tests.oracle.rules import Game

DATA = Path(__file__).parent.parent / "data"


@functools.cache
def load(name: str) -> list[dict[str, Any]]:
    """All records of tests/data/<name>.jsonl.gz."""
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


# A linear stand-in for a network: the search and IEC records have no trained one behind them.
_WV = [(((i * 7919 + 13) % 1009) / 1009 - 0.5) * 20 for i in range(features.SIZE)]
_WP = [
    [((((c + 1) * 104729 + i * 7919 + 17) % 2003) / 2003 - 0.5) * 2 for i in range(features.SIZE)]
    for c in range(52)
]


def linear_value(game: Game) -> float:
    """Points still to come for the team to move."""
    x = features.to_reference(features.perfect(game))
    return sum(a * w for a, w in zip(x, _WV, strict=True) if a)


def linear_policy(x: list[float]) -> list[float]:
    """Logits of the 52 cards for an input in our layout."""
    lit = [(i, a) for i, a in enumerate(features.to_reference(x)) if a]
    return [sum(a * row[i] for i, a in lit) for row in _WP]
