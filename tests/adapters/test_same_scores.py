"""A thousand random games give the same points in the core and through every adapter."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax.adapters import openspiel_game, pettingzoo_env
from gongzhu_jax.adapters.openspiel_game import state_of
from gongzhu_jax.adapters.pgx_env import GongzhuEnv
from gongzhu_jax.game import env, replay_checked
from gongzhu_jax.game.host_game import HostGame
from tests.oracle.rules import Game, card_id, random_game

GAMES = 1000
SIGNS = np.array([1, -1, 1, -1])


@pytest.fixture(scope="module")
def games() -> list[Game]:
    """By the rules in plain Python, which the package has no part in."""
    generator = random.Random(20)
    return [random_game(generator) for _ in range(GAMES)]


@pytest.fixture(scope="module")
def arrays(games) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Owners [n, 52], leaders [n] and plays [n, 52]."""
    plays = [[card for _, card in game.plays] for game in games]
    columns = ([game.owners for game in games], [game.leader for game in games], plays)
    owners, leaders, cards = (np.array(column, np.int8) for column in columns)
    return owners, leaders, cards


@pytest.fixture(scope="module")
def points(games) -> np.ndarray:
    """[n, 4]"""
    return np.array([game.scores() for game in games])


@pytest.fixture(scope="module")
def margins(points) -> np.ndarray:
    """[n, 4]"""
    return (points @ SIGNS)[:, None] * SIGNS


def test_core(arrays, points) -> None:
    @jax.jit
    @jax.vmap
    def score(owners, leader, plays):
        return env.scores(env.play_all(env.from_owners(owners, leader), plays))

    np.testing.assert_array_equal(score(*arrays), points)


def test_pgx(arrays, points, margins) -> None:
    table = GongzhuEnv()

    @jax.jit
    @jax.vmap
    def play_game(owners, leader, plays):
        def play(state, card):
            state = table.step(state, card)
            return state, state.rewards

        start = table.from_game(env.from_owners(owners, leader))
        end, rewards = jax.lax.scan(play, start, plays)
        return env.scores(end._x), jnp.sum(rewards, axis=0), end.terminated

    scores, rewards, terminated = play_game(*arrays)
    assert terminated.all()
    np.testing.assert_array_equal(scores, points)
    np.testing.assert_array_equal(rewards, margins)


def test_pettingzoo(arrays, points, margins) -> None:
    table = pettingzoo_env.raw_env()
    for owners, leader, plays, expected, rewards in zip(*arrays, points, margins, strict=True):
        table.reset(options={"deal": owners, "leader": leader})
        for card in plays.tolist():
            table.step(card)
        assert [table.infos[agent]["points"] for agent in table.agents] == expected.tolist()
        assert list(table.rewards.values()) == rewards.tolist()


def test_openspiel(games, points, margins) -> None:
    loaded = [openspiel_game.load(leader) for leader in range(4)]
    for game, expected, returns in zip(games, points, margins, strict=True):
        state = loaded[game.leader].new_initial_state()
        for place in range(13):
            for seat in range(4):
                dealt = [card for card in range(52) if game.owners[card] == seat]
                state.apply_action(dealt[place])
        for seat, card in game.plays:
            assert state.current_player() == seat
            state.apply_action(card)
        assert state.is_terminal()
        assert state.scores() == expected.tolist()
        assert state.returns() == returns.tolist()


def test_host_game_all_the_way(games) -> None:
    """The game that OpenSpiel's states are made of, card by card."""
    for game in games[:200]:
        again = Game(game.owners, game.leader)
        table = HostGame.from_owners(game.owners, game.leader)
        for number, (seat, card) in enumerate(game.plays):
            assert table.mover == seat
            assert table.legal() == again.legal()
            assert table.scores() == again.scores()
            assert table.trick == [card for _, card in again.trick]
            assert table.seats() == [seat for seat, _ in game.plays[:number]]
            again.play(card)
            table.play(card)
        assert table.owners() == game.owners
        assert table.margins() == [game.margin(seat) for seat in range(4)]


def test_rare_points() -> None:
    """All hearts, doubled or not, and C10 alone: random games seldom get there."""
    cases = {
        "H2 H3 H4 H5 H6 H7 H8 H9 H10 HJ HQ HK HA": 200,
        "H2 H3 H4 H5 H6 H7 H8 H9 H10 HJ HQ HK HA C10 SQ DJ": 400,
        "H2 H3 H4 H5 H6 H7 H8 H9 H10 HJ HQ HK HA C10 DJ": 600,
        "H3 H4 H5 H6 H7 H8 H9 H10 HJ HQ HK HA C10 SQ": -600,
        "C10": 50,
        "C10 H2": 0,
    }
    for names, expected in cases.items():
        table = HostGame(0)
        for name in names.split():
            table.taken_by[card_id(name)] = 2
        assert table.scores() == [0, 0, expected, 0]


def test_state_of_a_game(games) -> None:
    """A state made from the middle of a game goes on like one that was played to there."""
    game = games[0]
    table = HostGame.from_owners(game.owners, game.leader)
    for _, card in game.plays[:30]:
        table.play(card)
    expected = replay_checked(game.owners, game.leader, table.plays)
    jax.tree.map(np.testing.assert_array_equal, table.state(), expected)
    state = state_of(table)
    assert len(state.history()) == 52 + 30
    assert state.legal_actions() == Game(game.owners, game.leader, state.history()[52:]).legal()
    for _, card in game.plays[30:]:
        state.apply_action(card)
    assert state.scores() == game.scores()
