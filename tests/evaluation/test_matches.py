"""Games, tables and matches: against plain Python, and the same however they are computed."""

import jax
import numpy as np
import pytest

from gongzhu_jax import records, runtime
from gongzhu_jax.errors import ConfigError, DealError, IllegalPlayError, PlayerError
from gongzhu_jax.evaluation import Seating, play_games, play_match, random_deals
from gongzhu_jax.evaluation.deals import game_keys
from gongzhu_jax.players.protocol import Player
from tests.evaluation.simple_players import (
    counting,
    high_card,
    high_player,
    mixed_card,
    mixed_player,
    only_at,
    play_out,
    random_player,
)


def test_games_agree_with_plain_python():
    deals = random_deals(1, 60)
    rng = np.random.default_rng(0)
    seat_player = rng.integers(0, 2, (60, 4))  # another line-up in every game
    keys = game_keys(0, deals.numbers, np.zeros(60, np.int32))
    finished = play_games(
        (high_player, mixed_player), seat_player, deals.owners, deals.leaders, keys, chunk=3
    )
    twins = (high_card, mixed_card)
    for i in range(60):
        seats = [twins[number] for number in seat_player[i]]
        game = play_out(seats, deals.owners[i].tolist(), int(deals.leaders[i]))
        assert finished.states.plays[i].tolist() == [card for _, card in game.plays]
        assert finished.points[i].tolist() == game.scores()
        assert finished.illegal[i] == 52


def test_match_moves_hands_and_lead_one_seat_on():
    deals = random_deals(2, 9)
    result = play_match(high_player, mixed_player, deals, rotations=4, batch=32)
    seats = [high_card, mixed_card, high_card, mixed_card]
    for i in range(9):
        margins = []
        for rotation in range(4):
            # The hand of seat s is now at seat s + rotation.
            owners = [(seat + rotation) % 4 for seat in deals.owners[i].tolist()]
            game = play_out(seats, owners, (int(deals.leaders[i]) + rotation) % 4)
            assert result.seating.points[i, rotation].tolist() == game.scores()
            margins.append(game.margin(0))
        assert result.margins[i] == np.mean(margins)
    assert result.mean == pytest.approx(result.margins.mean())
    assert result.names == ("high", "mixed")
    # Two plays are the first two of the four.
    twice = play_match(high_player, mixed_player, deals, rotations=2, batch=64)
    np.testing.assert_array_equal(twice.seating.points, result.seating.points[:, :2])


def test_players_of_equal_strength_swap_exactly():
    # With deterministic players the duplicate of A against A is worth nothing.
    result = play_match(high_player, Player("copy", None, high_player.act_batch), 20, batch=64)
    assert not result.margins.any()
    assert result.draw_rate == 1
    assert result.win_rate == 0


@pytest.fixture(scope="module")
def reference() -> np.ndarray:
    return play_match(random_player, mixed_player, 200, seed=3, batch=64).margins


def test_results_do_not_depend_on_the_batch(reference):
    large = play_match(random_player, mixed_player, 200, seed=3, batch=1024)
    np.testing.assert_array_equal(large.margins, reference)


def test_results_do_not_depend_on_the_devices(reference):
    assert jax.device_count() > 1
    mesh = runtime.games_mesh(jax.devices()[:1])
    match = play_match(random_player, mixed_player, 200, seed=3, batch=50, chunk=7, mesh=mesh)
    np.testing.assert_array_equal(match.margins, reference)


def test_a_later_part_of_the_deals_gives_the_same(reference):
    part = random_deals(3, 200).part(150, 170)
    match = play_match(random_player, mixed_player, part, seed=3, batch=64)
    np.testing.assert_array_equal(match.margins, reference[150:170])


def test_seeds_differ(reference):
    other = play_match(random_player, mixed_player, random_deals(3, 200), seed=4, batch=64)
    assert (other.margins != reference).mean() > 0.5


def test_matches_of_all_lengths_and_parameters_share_one_trace():
    act, traces = counting(lambda params, keys, views: mixed_player.act_batch((), keys, views))
    for bias, deals in ((0.0, 10), (1.0, 200)):
        player = Player("counted", None, act, params={"bias": np.float32(bias)})
        play_match(player, high_player, deals, batch=64)
    assert len(traces) == 1


def test_a_player_sees_only_its_own_decisions():
    even = Player("even", None, only_at((0, 2), random_player.act_batch))
    odd = Player("odd", None, only_at((1, 3), random_player.act_batch))
    play_match(even, odd, 40, batch=64, chunk=5)
    with pytest.raises(IllegalPlayError, match="player 'even' broke the rules: deal "):
        Seating((even, even, even, odd), batch=64, chunk=5).play(40)


def test_four_different_players():
    seats = tuple(
        Player(f"p{seat}", None, only_at((seat,), random_player.act_batch)) for seat in range(4)
    )
    result = Seating(seats, rotations=1, batch=128, seed=8).play(30)
    assert result.names == ("p0", "p1", "p2", "p3")
    assert result.points.shape == (30, 1, 4)
    # The same player at all seats makes the same choices.
    alone = Seating((random_player,) * 4, rotations=1, batch=128, seed=8).play(30)
    np.testing.assert_array_equal(alone.points, result.points)


def test_one_player_asks_once_a_chunk():
    act, traces = counting(high_player.act_batch)
    Seating((Player("counted", None, act),) * 4, batch=16, chunk=3).play(2)
    assert traces == [3]


def test_records_replay(tmp_path):
    result = play_match(random_player, mixed_player, 5, batch=64, keep_states=True)
    games = result.seating.records()
    assert len(games) == 10
    assert games[1].players == ("random", "mixed", "random", "mixed")
    assert games[3].metadata == {"deal": 1, "rotation": 1}
    records.write(tmp_path / "games.jsonl.gz", games)
    assert len(records.replay_records(records.read(tmp_path / "games.jsonl.gz"))) == 10
    with pytest.raises(ConfigError, match="keep_states"):
        play_match(random_player, mixed_player, 5, batch=64).seating.records()


def test_interrupt_keeps_the_finished_deals(reference):
    seen = []

    def stop_after_two(done: int, total: int) -> None:
        seen.append((done, total))
        if len(seen) == 2:
            raise KeyboardInterrupt

    result = play_match(
        random_player, mixed_player, 200, seed=3, batch=64, on_progress=stop_after_two
    )
    assert seen == [(64, 200), (128, 200)]
    assert result.interrupted
    np.testing.assert_array_equal(result.margins, reference[:128])
    assert result.summary()["deals"] == 128
    assert result.summary()["interrupted"] is True


def test_interrupt_before_the_first_batch_has_no_result(monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    seating = Seating((random_player,) * 4, rotations=1, batch=128)
    seating.compile()
    monkeypatch.setattr("gongzhu_jax.evaluation.seatings.play_games", interrupted)
    with pytest.raises(KeyboardInterrupt):
        seating.play(3)


def test_bad_settings():
    with pytest.raises(ConfigError, match="rotations must be 2 or 4"):
        play_match(random_player, mixed_player, 4, rotations=3)
    with pytest.raises(ConfigError, match="rotations"):
        Seating((random_player,) * 4, rotations=5)
    with pytest.raises(PlayerError, match="4 players"):
        Seating((random_player,) * 3)
    with pytest.raises(ConfigError, match="batch"):
        play_match(random_player, mixed_player, 4, batch=0)
    with pytest.raises(ConfigError, match="chunk"):
        play_match(random_player, mixed_player, 4, chunk=0)
    with pytest.raises(ConfigError, match="seed"):
        play_match(random_player, mixed_player, 4, seed=2**32)
    with pytest.raises(DealError, match="no deals"):
        play_match(random_player, mixed_player, random_deals(0, 4).part(2, 2))
