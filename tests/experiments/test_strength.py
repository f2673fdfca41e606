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
    words += ["paired=[[raw,scrofa@9]]", "deals_of={raw:2}"]
    assert strength.main([*words, "deals=4", "batch=4", f"output={out}"]) == 0
    result = json.loads(out.read_text())["result"]
    rows = result["rows"]
    deals = standard_deals("development", 4)
    expected = {
        "raw": (high_player, random_player),
        "scrofa@9": (mixed_player, random_player),
        "raw - scrofa@9": (high_player, mixed_player),
    }
    assert list(rows) == list(expected)
    margins = {}
    for name, (first, second) in expected.items():
        match = play_match(first, second, deals, batch=4)
        margins[name] = match.margins[:2] if name == "raw" else match.margins
        assert rows[name]["mean"] == margins[name].mean()
    (found,) = result["differences"].values()
    assert found["mean"] == (margins["raw"] - margins["scrofa@9"][:2]).mean()


def test_the_default_players_exist(capsys) -> None:
    assert strength.main(["deals=0"]) == 2  # refused after the players were made
    assert "deals" in capsys.readouterr().err
    assert strength.main(["against=[[raw]]"]) == 2
    assert "lists of pairs" in capsys.readouterr().err
    assert strength.main(["players=[raw]", "paired=[[raw,scrofa]]"]) == 2
    assert "there is no row 'scrofa'" in capsys.readouterr().err
