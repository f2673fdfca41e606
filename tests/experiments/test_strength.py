"""The command that measures our players: rows over Mr. Greed and against each other."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments import comparison, strength
from gongzhu_jax import players
from gongzhu_jax.evaluation import play_match, standard_deals
from tests.evaluation.simple_players import high_player, mixed_player, random_player


def test_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def simple(name: str, **options: Any) -> players.Player:
        chosen = {"greed": random_player, "raw": high_player}.get(name, mixed_player)
        return replace(chosen, name=name, config=sorted(options.items()))

    monkeypatch.setattr(players, "make", simple)
    monkeypatch.setattr(comparison, "PARTS", tmp_path / "parts")
    out = tmp_path / "strength.json"
    words = ["players=[raw,scrofa@9]", "options={scrofa@9:{draws:9}}", "against=[[raw,scrofa@9]]"]
    assert strength.main([*words, "deals=4", "batch=4", f"output={out}"]) == 0
    rows = json.loads(out.read_text())["result"]["rows"]
    deals = standard_deals("development", 4)
    expected = {
        "raw": (high_player, random_player),
        "scrofa@9": (mixed_player, random_player),
        "raw - scrofa@9": (high_player, mixed_player),
    }
    assert list(rows) == list(expected)
    for name, (first, second) in expected.items():
        assert rows[name]["mean"] == play_match(first, second, deals, batch=4).mean


def test_the_default_players_exist(capsys) -> None:
    assert strength.main(["deals=0"]) == 2  # refused after the players were made
    assert "deals" in capsys.readouterr().err
    assert strength.main(["against=[[raw]]"]) == 2
    assert "pairs of players" in capsys.readouterr().err
