"""All pairs on the same deals."""

import numpy as np
import pytest

from gongzhu_jax.errors import PlayerError
from gongzhu_jax.evaluation import intransitivity, play_match, play_round_robin
from tests.evaluation.simple_players import high_player, mixed_player, random_player

PLAYERS = {"chance": random_player, "high": high_player, "mixed": mixed_player}


def test_pairs_are_matches_on_the_same_deals():
    seen = []
    result = play_round_robin(
        PLAYERS, 80, seed=5, batch=64, on_progress=lambda *done: seen.append(done)
    )
    assert result.names == ("chance", "high", "mixed")
    match = play_match(random_player, mixed_player, 80, seed=5, batch=64)
    np.testing.assert_array_equal(result.margins[0, 2], match.margins)
    np.testing.assert_array_equal(result.margins, -result.margins.transpose(1, 0, 2))
    assert result.standard_errors[0, 2] == pytest.approx(match.standard_error)
    assert result.epsilon == intransitivity(result.matrix)
    assert 0 < result.epsilon_sd < 1
    assert seen == [(64, 240), (128, 240), (192, 240), (208, 240), (224, 240), (240, 240)]
    assert not result.interrupted


def test_interrupt_keeps_deals_that_all_pairs_have_played():
    def stop_in_second_round(done: int, total: int) -> None:
        if done > 200:
            raise KeyboardInterrupt

    result = play_round_robin(PLAYERS, 80, seed=5, batch=64, on_progress=stop_in_second_round)
    assert result.interrupted
    assert result.summary()["deals"] == 64


def test_two_players_have_no_epsilon():
    two = {name: PLAYERS[name] for name in ("high", "mixed")}
    summary = play_round_robin(two, 5, batch=64).summary()
    assert summary["epsilon"] is None
    with pytest.raises(PlayerError, match="two players"):
        play_round_robin({"high": high_player}, 5)
