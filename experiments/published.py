"""The paper's numbers that fill more than a few lines, from experiments/data."""

import csv
from pathlib import Path

import numpy as np

from gongzhu_jax.game.cards import CARD_NAMES

DATA = Path(__file__).parent / "data"


def published_curve() -> list[dict[str, float]]:
    """Raw-network WPG of the paper's run by games and hours on one GPU."""
    with (DATA / "published_curve.csv").open() as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def published_cards() -> dict[str, np.ndarray]:
    """[52] each: the paper's mean "correction_factor" of a card at beta 0.015, and the "spread"
    of its values. The paper calls the latter a variance; it has the size of a standard deviation
    in points."""
    with (DATA / "published_cards.csv").open() as file:
        rows = {row["card"]: row for row in csv.DictReader(file)}
    return {
        name: np.array([float(rows[card][name]) for card in CARD_NAMES])
        for name in ("correction_factor", "spread")
    }
