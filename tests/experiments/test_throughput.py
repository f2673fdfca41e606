"""The measurements at tiny sizes, in this process."""

import json
from pathlib import Path

import jax
import numpy as np
import pytest

from experiments import throughput
from experiments.speed import env as speed_env
from experiments.speed import rates

TINY = {"batches": (1, 16), "repeats": 1, "seconds": 0.001, "pgx_games": ()}


def test_env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    assert throughput.main(["env"], **TINY) == 0
    assert "gongzhu_jax" in capsys.readouterr().out
    text = (tmp_path / "runs" / "throughput_env.json").read_text()
    kept = json.loads(text)
    assert set(kept) == {
        *("name", "command", "config", "seed", "commit", "clean", "source", "date", "machine"),
        *("seconds", "result"),
    }
    assert not any((tmp_path / "results").iterdir())  # a trial leaves what is published alone
    assert kept["command"] == "python -m experiments.throughput env"
    assert kept["config"]["batches"] == [1, 16]
    assert kept["seed"] == 0
    assert set(kept["machine"]) == {
        *("cpu", "cores", "devices", "platform", "python", "jax", "jaxlib")
    }
    assert str(Path.home()) not in text
    rows = {(row["what"], row["batch"]): row["steps_per_second"] for row in kept["result"]["rows"]}
    assert rows.keys() == {
        *(("gongzhu_jax", 1), ("gongzhu_jax", 16), ("plain Python", 1), ("OpenSpiel hearts", 1))
    }
    assert all(speed == "not installed" or speed > 0 for speed in rows.values())


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    for argv in ([], ["nothing"]):
        assert throughput.main(argv) == 2
        assert capsys.readouterr().err.startswith("usage: python -m experiments.throughput env")


def test_spread_games_are_the_same_games() -> None:
    """The devices change nothing: game by game the scores are those of one device."""
    keys = jax.random.split(jax.random.key(0), 16)
    everywhere, mesh = speed_env.spread(jax.vmap(speed_env.random_game), 16)
    assert mesh.size == len(jax.devices()) > 1
    alone = jax.jit(jax.vmap(speed_env.random_game))
    np.testing.assert_array_equal(everywhere(keys), alone(keys))
    assert speed_env.spread(jax.vmap(speed_env.random_game), 1)[1].size == 1


def test_rate_leaves_out_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock that each call moves on: 10 s for the first, then 2 s."""
    now, calls = [0.0], []

    def work() -> None:
        now[0] += 2.0 if calls else 10.0
        calls.append(now[0])

    monkeypatch.setattr(rates.time, "perf_counter", lambda: now[0])
    assert rates.rate(work, 100, repeats=3, seconds=6.0) == 50.0
    assert len(calls) == 1 + 1 + 3 * 3  # warm-up, one to see how long it takes, 3 times 3
