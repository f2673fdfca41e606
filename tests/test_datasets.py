"""Datasets of games: what is written is what was played, whole, and goes on where it stopped."""

from pathlib import Path

import jax
import numpy as np
import pytest

from experiments import make_games
from gongzhu_jax import datasets
from gongzhu_jax.errors import RecordError
from gongzhu_jax.mixture_training import play_mixture
from gongzhu_jax.runtime import games_mesh
from tests.evaluation.simple_players import high_player, random_player
from tests.oracle.rules import Game


@pytest.fixture(scope="module")
def columns() -> datasets.Columns:
    games = play_mixture((7,), 24, [high_player, random_player], [0.5, 0.5], games_mesh())
    return make_games.columns_of(games)


@pytest.fixture
def dataset(tmp_path: Path, columns: datasets.Columns) -> datasets.Dataset:
    datasets.write_about(tmp_path, {"players": ["high", "random"]})
    for number in range(3):
        part = {name: column[8 * number : 8 * number + 8] for name, column in columns.items()}
        datasets.write_shard(datasets.shard_path(tmp_path, number), part)
    return datasets.open_dataset(tmp_path)


def test_games_are_those_of_the_rules(columns: datasets.Columns) -> None:
    for i in range(24):
        owners, leader, plays = (
            columns[name][i].tolist() for name in ("owners", "leader", "plays")
        )
        assert Game(owners, leader, plays).scores() == columns["scores"][i].tolist()
    states = jax.device_get(datasets.final_states(columns))
    np.testing.assert_array_equal(states.plays, columns["plays"])
    assert set(columns["player"].ravel()) == {0, 1}


def test_every_game_comes_once(dataset: datasets.Dataset, columns: datasets.Columns) -> None:
    batches = list(dataset.batches(5, seed=1))
    assert [len(batch["leader"]) for batch in batches] == [5, 5, 5, 5]
    plays = {tuple(row) for batch in batches for row in batch["plays"].tolist()}
    assert len(plays) == 20
    assert plays <= {tuple(row) for row in columns["plays"].tolist()}
    again = list(dataset.batches(5, seed=1))
    np.testing.assert_array_equal(batches[3]["owners"], again[3]["owners"])
    other = next(dataset.batches(5, seed=2))
    assert not np.array_equal(batches[0]["plays"], other["plays"])


def test_damage_is_noticed(dataset: datasets.Dataset, columns: datasets.Columns) -> None:
    path = dataset.shards[1]
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(RecordError, match="cannot read"):
        list(dataset.batches(8))
    with pytest.raises(RecordError, match="no column 'scores'"):
        datasets.write_shard(path, {n: c for n, c in columns.items() if n != "scores"})
    with pytest.raises(RecordError, match="leader is int64"):
        datasets.write_shard(path, {**columns, "leader": columns["leader"].astype(np.int64)})
    with pytest.raises(RecordError, match="unknown column 'score'"):
        datasets.write_shard(path, {**columns, "score": columns["leader"]})
    scores = columns["scores"].copy()
    scores[3, 1] += 10
    with pytest.raises(RecordError, match="game 3 is not one of these rules"):
        datasets.final_states({**columns, "scores": scores})
    with pytest.raises(RecordError, match="has no dataset"):
        datasets.open_dataset(dataset.folder / "nothing")


def test_the_command_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mixture = "mixture={random:1.0,if:1.0,scrofa-strong@eight:0.0}"
    words = [f"directory={tmp_path}/games", "shard=4", mixture, "keep_q=false"]
    assert make_games.main([*words, "games=4"]) == 0
    first = (tmp_path / "games" / "games-00000.npz").stat().st_mtime_ns
    assert make_games.main([*words, "games=8"]) == 0
    dataset = datasets.open_dataset(tmp_path / "games")
    assert dataset.shards[0].stat().st_mtime_ns == first
    assert len(dataset.shards) == 2
    assert dataset.about["players"] == ["random", "if"]
    one, other = map(datasets.read_shard, dataset.shards)
    assert not np.array_equal(one["owners"], other["owners"])
    datasets.final_states(other)
    card = (tmp_path / "games" / "README.md").read_text()
    assert "| games | 8, in 2 shards |" in card
    for number, name in enumerate(dataset.about["players"]):
        points = [
            int(shard["scores"][game, seat])
            for shard in (one, other)
            for game in range(4)
            for seat in range(4)
            if shard["player"][game, seat] == number
        ]
        assert f"| {name} | {len(points)} | {sum(points) / len(points):.1f} |" in card
    assert make_games.main([*words, "games=8", "seed=1"]) == 2
    assert "games of another seed" in capsys.readouterr().err
    assert make_games.main([*words, "games=9"]) == 2
