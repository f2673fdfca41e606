"""The measurements of searches and decisions at tiny sizes, in this process."""

import json
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from experiments import throughput
from experiments.speed import belief as speed_belief
from experiments.speed import inference as speed_inference
from gongzhu_jax.game.public_view import legal_mask
from tests import beliefs

QUICK = {"rounds": 1, "seconds": 0.001}
ONE = ("compact",)


def _rows(subject: str, folder: Path, monkeypatch: pytest.MonkeyPatch, **changes: Any) -> list:
    assert throughput.main([subject], **QUICK, **changes) == 0
    kept = json.loads((folder / "runs" / f"throughput_{subject}.json").read_text())
    assert kept["command"] == f"python -m experiments.throughput {subject}"
    assert kept["result"]["devices"] == len(jax.devices()) > 1
    return kept["result"]["rows"]


def test_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = _rows("search", tmp_path, monkeypatch, networks=ONE, roots=2, chunk=2)
    assert [row["budget"] for row in rows] == ["1 x legal", "2 x legal", "10 + 2 x legal"]
    for row in rows:
        assert row["share"] == row["simulations_per_second"] / row["network_per_second"] > 0
        assert 0 <= row["waste"] < 1


def test_inference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"players": ("raw", "scrofa-simple"), "decisions": 1, "chunk": 4, "batches": (2, 4)}
    rows = _rows("inference", tmp_path, monkeypatch, networks=ONE, **options)
    assert [(row["network"], row["player"]) for row in rows] == [
        ("compact", "raw"),
        ("compact", "scrofa-simple"),
    ]
    raw, simple = rows
    # 5 deals of 2 to 13 cards; up to 9 deals of 10 + 2 x legal.
    assert 5 * 2 <= raw["evaluations_per_decision"] <= 5 * 13
    assert 2 * 14 <= simple["evaluations_per_decision"] <= 9 * 36
    for row in rows:
        asked = row["decisions_per_second"] * row["evaluations_per_decision"]
        assert row["share_of_bound"] == pytest.approx(asked / row["network_per_second"])
        assert row["network_batch"] in (2, 4)
        assert 0 <= row["waste"] < 1


def test_mixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenarios = {"draws": 2, "candidates": 0}
    options = {"belief": str(beliefs.save_small(tmp_path)), "scenarios": scenarios}
    changes: dict[str, Any] = {"games": 8, "batches": (4,), "options": options}
    (row,) = _rows("mixture", tmp_path, monkeypatch, **changes)
    # 2 to 13 cards in two scenarios, at most 48 times.
    assert 2 * 2 * 10 < row["evaluations_per_game"] < 2 * 8 * 48
    asked = row["games_per_second"] * row["evaluations_per_game"]
    assert row["share_of_bound"] == pytest.approx(asked / row["network_per_second"])


@pytest.mark.slow
def test_belief(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two = dict(list(speed_belief.VARIANTS.items())[::6])  # compiling takes most of the time
    monkeypatch.setattr(speed_belief, "VARIANTS", two)
    monkeypatch.setattr(speed_belief, "POSITIONS", 16)
    files = {
        "belief": beliefs.save_small(tmp_path),
        "opponent_model": beliefs.save_opponent_model(tmp_path),
    }
    small = {"scenarios.draws": 2} | {name: str(path) for name, path in files.items()}
    rows = _rows("belief", tmp_path, monkeypatch, options=small, decisions=(1,))
    assert [row["player"] for row in rows] == [*two, speed_belief.DISTILLED]
    assert rows[1]["times_as_fast"] == 1
    for row in rows:
        ratio = row["decisions_per_second"] / rows[1]["decisions_per_second"]
        assert row["times_as_fast"] == pytest.approx(ratio)


def test_measured_positions_leave_a_choice() -> None:
    views = speed_inference.views_with_choice(jax.random.key(0), 50)
    assert views.seat.shape == (50,)
    np.testing.assert_array_equal(views.seat, views.to_move)
    legal = np.sum(jax.jit(jax.vmap(legal_mask))(views), axis=1)
    assert np.min(legal) > 1
    assert len(set(np.asarray(views.stage).tolist())) > 20
