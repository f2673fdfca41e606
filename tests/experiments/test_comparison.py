"""Comparisons: paired by deal, and what was played once is not played again."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments import comparison
from experiments.comparison import Pairing, compare
from experiments.settings import ClassicalSettings
from gongzhu_jax import players
from gongzhu_jax.evaluation import play_match

SETTINGS = ClassicalSettings(set="development", deals=6, seed=0, batch=6, chunk=4, output=None)


def pairings() -> list[Pairing]:
    chance = players.make("random")
    return [
        Pairing("if", players.make("if"), chance),
        Pairing("fewer", players.make("if"), chance, deals=4),
        Pairing("random", chance, players.make("if")),
    ]


def test_kept_and_paired(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = compare(pairings(), SETTINGS, tmp_path)
    alone = play_match(
        players.make("if"), players.make("random"), SETTINGS.draw_deals(), batch=6, chunk=4
    )
    np.testing.assert_array_equal(first.margins["if"], alone.margins)
    np.testing.assert_array_equal(first.margins["fewer"], alone.margins[:4])
    difference = first.difference("if", "fewer")
    assert (difference.mean, difference.count) == (0.0, 4)
    gain = first.margins["if"] - first.margins["random"]
    assert first.difference("if", "random").mean == pytest.approx(gain.mean())
    assert not first.interrupted

    with monkeypatch.context() as patched:
        patched.setattr(comparison, "play_match", _fail)
        again = compare(pairings(), SETTINGS, tmp_path)
        assert again.rows == first.rows
        with pytest.raises(AssertionError, match="played before"):  # other games, other file
            compare(pairings(), replace(SETTINGS, seed=1), tmp_path)


def test_interrupted_keeps_what_is_finished(tmp_path: Path, monkeypatch) -> None:
    calls = []

    def play(*args, **options):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return play_match(*args, **options)

    monkeypatch.setattr(comparison, "play_match", play)
    stopped = compare(pairings(), SETTINGS, tmp_path)
    assert stopped.interrupted
    assert list(stopped.rows) == ["if"]
    whole = compare(pairings(), SETTINGS, tmp_path)
    assert list(whole.rows) == ["if", "fewer", "random"]
    assert len(calls) == 4  # the first match was not played again


def _fail(*args, **options):
    raise AssertionError("it was played before")
