"""The Pgx environment: Pgx's own test, its conventions, and our rules behind them."""

from typing import Literal
from xml.etree import ElementTree

import jax
import jax.numpy as jnp
import numpy as np
import pgx
import pgx._src.api_test as pgx_api_test
import pytest
from pgx._src.visualizer import Visualizer, global_config
from pgx.experimental import auto_reset

from gongzhu_jax.adapters import observation
from gongzhu_jax.adapters.pgx_drawing import install_pgx_visualizer
from gongzhu_jax.adapters.pgx_env import GongzhuEnv
from gongzhu_jax.errors import ConfigError, DealError
from gongzhu_jax.game.cards import NUM_CARDS
from tests.oracle.rules import Game


def act_randomly(key: jax.Array, mask: jax.Array) -> jax.Array:
    return jax.random.categorical(key, jnp.log(mask.astype(jnp.float32)), axis=-1)


@pytest.fixture(scope="module")
def perfect() -> GongzhuEnv:
    return GongzhuEnv("perfect")


@pytest.fixture(scope="module")
def games(perfect):
    """Two random games, every state on the way: leaves [53, 2, ...]; and the actions, [52, 2]."""

    def play(state, key):
        action = act_randomly(key, state.legal_action_mask)
        return jax.vmap(perfect.step)(state, action), (state, action)

    @jax.jit
    def run(key):
        start = jax.vmap(perfect.init)(jax.random.split(key, 2))
        end, (before, actions) = jax.lax.scan(play, start, jax.random.split(key, NUM_CARDS))
        return jax.tree.map(lambda a, b: jnp.concatenate([a, b[None]]), before, end), actions

    return jax.device_get(run(jax.random.key(0)))


@pytest.fixture(scope="module")
def step(perfect):
    return jax.jit(perfect.step)


def at(states, stage: int, game: int = 0):
    return jax.tree.map(lambda leaf: leaf[stage, game], states)


def test_api(monkeypatch, perfect) -> None:
    """Two of its names are patched: `act_randomly` of Pgx 2.6 fails on the version of jax here for
    every environment, and the list of ids has no place for an environment from outside."""
    monkeypatch.setattr(pgx_api_test, "act_randomly", jax.jit(act_randomly))
    monkeypatch.setattr(pgx_api_test, "EnvId", Literal["gongzhu"])
    pgx_api_test.api_test(perfect, 1)


def test_states_are_those_of_the_rules(games) -> None:
    states, actions = games
    for number in range(2):
        start = at(states, 0, number)
        game = Game(start._x.holder.tolist(), int(start.current_player))
        for stage in range(NUM_CARDS):
            state = at(states, stage, number)
            assert state.current_player == game.player_to_move()
            assert np.flatnonzero(state.legal_action_mask).tolist() == game.legal()
            assert not state.terminated
            assert not state.rewards.any()
            assert state._step_count == stage
            game.play(int(actions[stage, number]))
        end = at(states, NUM_CARDS, number)
        assert end.terminated
        assert end.legal_action_mask.all()
        assert end.rewards.tolist() == [game.margin(seat) for seat in range(4)]


def test_observation(games) -> None:
    """Part by part against the rules in plain Python."""
    states, actions = games
    start = at(states, 0)
    game = Game(start._x.holder.tolist(), int(start.current_player))
    for stage in range(NUM_CARDS):
        seat = game.player_to_move()
        seats = [(seat + relative) % 4 for relative in range(4)]
        on_table = dict(game.trick)
        expected = [
            cards([game.hand(seat)]),
            cards([[on_table[s]] if s in on_table else [] for s in seats]),
            cards([game.taken[s] for s in seats]),
            [void for s in seats for void in game.voids()[s]],
            [True, False, False, False],
            cards([game.hand(s) for s in seats[1:]]),
        ]
        np.testing.assert_array_equal(at(states, stage).observation, np.concatenate(expected))
        game.play(int(actions[stage, 0]))


def cards(sets: list[list[int]]) -> np.ndarray:
    return np.concatenate([np.isin(np.arange(NUM_CARDS), held) for held in sets])


def test_imperfect_observation_is_the_perfect_one_without_the_hidden_hands(games) -> None:
    env = GongzhuEnv()
    state = at(games[0], 17)
    seen = jax.jit(env._observe)(state, state.current_player)
    np.testing.assert_array_equal(seen, state.observation[: observation.SIZE])
    assert env.observation_shape == (observation.SIZE,)


def test_illegal_action(step, games) -> None:
    """The game ends, at the cost of who did it."""
    state = at(games[0], 5)
    illegal = int(np.flatnonzero(~state.legal_action_mask)[0])
    after = step(state, illegal)
    assert after.terminated
    assert after.rewards[state.current_player] == -700
    assert after.legal_action_mask.all()


def test_nothing_happens_after_the_end(step, games) -> None:
    end = at(games[0], NUM_CARDS)
    after = step(end, 3)
    assert after.terminated
    assert not after.rewards.any()
    assert after._x.stage == NUM_CARDS


def test_auto_reset(perfect) -> None:
    step = auto_reset(perfect.step, perfect.init)

    @jax.jit
    def run(key):
        def play(state, key):
            action = act_randomly(key, state.legal_action_mask)
            state = jax.vmap(step)(state, action, jax.random.split(key, 3))
            return state, (state.terminated, state.rewards, state._x.stage)

        start = jax.vmap(perfect.init)(jax.random.split(key, 3))
        return jax.lax.scan(play, start, jax.random.split(key, 2 * NUM_CARDS + 4))[1]

    terminated, rewards, stage = run(jax.random.key(1))
    ends = [NUM_CARDS - 1, 2 * NUM_CARDS - 1]
    assert np.flatnonzero(terminated.all(axis=1)).tolist() == ends
    assert terminated.any(axis=1).sum() == 2
    assert not rewards.sum(axis=-1).any()
    assert stage[-1].tolist() == [4, 4, 4]


def test_leader() -> None:
    env = GongzhuEnv(leader=2)
    assert jax.jit(env.init)(jax.random.key(0)).current_player == 2


def test_bad_arguments() -> None:
    with pytest.raises(ConfigError, match="observation must be one of imperfect, perfect"):
        GongzhuEnv("full")
    with pytest.raises(DealError, match="leader must be a seat from 0 to 3"):
        GongzhuEnv(leader=4)


def test_pictures(games, tmp_path, monkeypatch) -> None:
    states, _ = games
    one, both = at(states, 7), jax.tree.map(lambda leaf: leaf[7], states)
    assert one._repr_html_() == one.to_svg()
    assert one.to_svg().count("card-back") == 1  # only the definition: all hands are open
    assert both.to_svg().count("trick 2<") == 2
    monkeypatch.setattr(global_config, "color_theme", "dark")
    assert one.to_svg() == one.to_svg(color_theme="dark") != one.to_svg(color_theme="light")
    both.save_svg(tmp_path / "both.svg", color_theme="dark", scale=0.5)
    ElementTree.parse(tmp_path / "both.svg")


def test_visualizer_of_pgx(games, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(Visualizer, "_set_config_by_state", Visualizer._set_config_by_state)
    install_pgx_visualizer()
    install_pgx_visualizer()
    shown = [at(games[0], stage) for stage in (0, 1)]
    pgx.save_svg_animation(shown, tmp_path / "game.svg")
    text = (tmp_path / "game.svg").read_text()
    assert text.count('class="frame"') == 2
    assert "seat 3: 0, 0 tricks" in text
    pgx.save_svg(shown[0], tmp_path / "table.svg")
    ElementTree.parse(tmp_path / "table.svg")
    # Other games are drawn as before.
    pgx.save_svg(pgx.make("tic_tac_toe").init(jax.random.key(0)), tmp_path / "other.svg")
