"""Folders of their own for the tests of commands, and players that compile fast."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from experiments.common.results import PLACES
from gongzhu_jax import players
from gongzhu_jax.players import registry
from tests.evaluation.simple_players import high_player, mixed_player, random_player

Choose = Callable[[str, dict[str, Any]], players.Player]


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is written to the folders of the project."""
    for name in ("runs", "results", "pictures"):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(PLACES, name, tmp_path / name)
    monkeypatch.setenv("COLUMNS", "200")  # tables without line breaks
    return tmp_path


@dataclass(frozen=True)
class Options:
    chosen: dict[str, Any] = field(default_factory=dict)


@pytest.fixture
def simple_players(monkeypatch: pytest.MonkeyPatch) -> None:
    """The highest card for the averaged input or a beta, random cards for Mr. Random and Mr. Greed,
    and a mixture of high and low cards for all others."""

    def simple(name: str, **options: Any) -> players.Player:
        high = options.get("inputs") == "averaged" or options.get("weights", {}).get("beta")
        player = high_player if high or name == "if" else mixed_player
        player = random_player if name in ("random", "greed") else player
        return replace(player, name=name, config=Options(options))

    monkeypatch.setattr(registry, "make", simple)
    monkeypatch.setattr(players, "make", simple)
