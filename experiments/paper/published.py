"""The paper's numbers, from published.yaml, each with where it is from."""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import OmegaConf

from gongzhu_jax.game.cards import CARD_NAMES, RANK_NAMES

PUBLISHED = Path(__file__).with_suffix(".yaml")
SOURCES = {
    "text": "paper",
    "figure": "read off the paper's figure",
    "logs": "original program's logs",
}
"""Heads of the columns of numbers, by where these are from."""


@dataclass(frozen=True)
class PaperNumber:
    value: float
    where: str
    error: float | None = None  # one standard error
    said: str = ""  # as it is printed, if that is no plain number
    rates: str = ""  # games won and drawn
    parameters: int | None = None  # of the network
    greed: int | None = None  # Mr. Greed's value of the card

    def __post_init__(self) -> None:
        if self.where not in SOURCES:
            raise ValueError(f"where must be one of {', '.join(SOURCES)}, not {self.where!r}")

    @property
    def text(self) -> str:
        shown = self.said or f"{self.value:g}"
        return shown if self.error is None else f"{shown} ± {self.error:g}"


@functools.cache
def _data() -> dict[str, Any]:
    data: Any = OmegaConf.to_container(OmegaConf.load(PUBLISHED))
    return data


def paper_numbers(experiment: str, row: str) -> tuple[PaperNumber, ...]:
    """What the paper and the original program say of a row of an experiment."""
    entries = _data()["numbers"].get(experiment, {}).get(row, ())
    return tuple(PaperNumber(**entry) for entry in entries)


def paper_rows(experiment: str) -> list[str]:
    """The rows of an experiment that the paper has."""
    return list(_data()["numbers"].get(experiment, {}))


def known_reason(experiment: str) -> str:
    """What is known about differences between the paper and us."""
    return _data()["why"].get(experiment, "")


def irrelevant_examples() -> dict[str, list[dict[str, list[float | None]]]]:
    """Irrelevant card -> groups: card guessed -> factor without and with the irrelevant one."""
    return _data()["irrelevant_cards"]


def worked_positions() -> dict[str, dict[str, Any]]:
    """Positions of the original program's notebook by name, as one seat sees them."""
    return _data()["worked_positions"]


def by_card(name: str) -> np.ndarray:
    """[52] "correction_factor" at beta 0.015, or "spread"."""
    by_suit = _data()["by_card"][name]
    return np.array([by_suit[card[0]][RANK_NAMES.index(card[1:])] for card in CARD_NAMES], float)


def paper_training() -> dict[str, Any]:
    """Games and epochs of the paper's best run."""
    return _data()["training"]


def curve() -> list[dict[str, float]]:
    """Raw-network points over Mr. Greed of the paper's run by games and hours on one GPU."""
    names = ("games", "wpg", "stderr", "hours")
    return [dict(zip(names, row, strict=True)) for row in _data()["curve"]]
