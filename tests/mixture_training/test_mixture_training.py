"""Learning of belief and opponent model from players whose plays give their hands away."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax.errors import ConfigError, GongzhuError
from gongzhu_jax.game.public_view import PublicView
from gongzhu_jax.mixture_training import (
    MixtureGames,
    MixtureTrainingConfig,
    compile_learn,
    held_out_nll,
    init_state,
    nll,
    play_mixture,
    random_stages,
)
from gongzhu_jax.mixture_training.losses import LAST_STAGE
from gongzhu_jax.opponents.card_belief import BeliefConfig
from gongzhu_jax.opponents.opponent_model import OpponentModelConfig
from gongzhu_jax.players import Player, from_function
from gongzhu_jax.runtime import games_mesh
from tests.evaluation.simple_players import high_player, random_player
from tests.optimised import call_optimised

CONFIG = MixtureTrainingConfig(
    epochs=1,
    network=BeliefConfig(reader=32, width=32, blocks=1),
    games=256,
    window=256,
    updates=150,
    minibatch=64,
    positions=8,
    learning_rate=3e-3,
    final_learning_rate=3e-3,
    average=0.9,
    mixture={"high": 1.0},
)


@pytest.fixture(scope="module")
def games() -> MixtureGames:
    """Everybody always plays the highest legal card: who plays low has nothing higher."""
    mesh = games_mesh()
    return jax.device_get(play_mixture((0,), CONFIG.games, [high_player], [1.0], mesh))


_nll = jax.jit(lambda params, games, stages: nll(params, games, stages, CONFIG.network))


def gain(params, games: MixtureGames) -> np.ndarray:
    """Nats per position better than the uniform distribution."""
    stages = random_stages(jax.random.key(9), CONFIG.games, 1)
    believed, uniform, unseen = _nll(params, games, stages)
    then = np.asarray(stages)
    assert np.all(np.asarray(unseen) == 52 - then - (51 - then) // 4 - 1)
    return np.asarray(uniform - believed)


def test_learns_what_plays_give_away(games: MixtureGames) -> None:
    mesh = games_mesh(jax.devices()[:2])
    state = init_state(CONFIG, mesh)
    before = gain(jax.device_get(state.learner.average), games)
    learn = compile_learn(CONFIG, mesh)
    learner, loss = call_optimised(learn, state.learner, games, CONFIG.games, jax.random.key(0))
    after = gain(jax.device_get(learner.average), games)
    assert abs(before.mean()) < 0.3
    assert after.mean() > 0.6
    assert np.isfinite(float(loss))


def test_the_number_of_devices_does_not_matter(games: MixtureGames) -> None:
    config = replace(CONFIG, updates=2)

    def train(devices: int):
        mesh = games_mesh(jax.devices()[:devices])
        learner = init_state(config, mesh).learner
        return jax.device_get(
            compile_learn(config, mesh)(learner, games, CONFIG.games, jax.random.key(0))
        )

    assert jax.device_count() > 1
    (one, loss), (every, other) = train(1), train(jax.device_count())
    assert loss == pytest.approx(other, rel=1e-5)
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, atol=2e-5), one.average, every.average
    )


def always_s2(params: Any, keys: jax.Array, views: PublicView) -> jax.Array:
    return jnp.zeros(len(keys), jnp.int8)


def fails(view: dict[str, Any]) -> str:
    raise ValueError("out of cards")


@pytest.mark.parametrize(
    ("player", "message"),
    [
        (Player("two", None, always_s2), "'two' broke the rules: game .*, card id 0"),
        (from_function(fails, "failing"), "out of cards"),
    ],
)
def test_a_player_that_fails_is_not_learnt_from(player: Player, message: str) -> None:
    with pytest.raises(GongzhuError, match=message):
        play_mixture((1,), 8, [high_player, player], [0.5, 0.5], games_mesh())


def test_seats_of_a_mixture() -> None:
    """In half of the games partners are of one type; in the others seats are drawn one by one."""
    mesh, pair = games_mesh(), [high_player, random_player]
    played = play_mixture((1,), 64, pair, [0.5, 0.5], mesh)
    games, types = played.states, np.asarray(played.player_type)
    assert np.all(games.stage == 52)
    of_teams = np.all(types[:, :2] == types[:, 2:], axis=1)
    assert 32 <= of_teams.sum() < 64
    assert set(types.ravel().tolist()) == {0, 1}
    again = play_mixture((1,), 64, pair, [0.5, 0.5], mesh)
    np.testing.assert_array_equal(games.plays, again.states.plays)
    other = play_mixture((2,), 64, pair, [0.5, 0.5], mesh)
    assert np.any(games.plays != other.states.plays)


# The opponent model

MODEL = replace(
    CONFIG,
    network=OpponentModelConfig(player_types=2, reader=32, width=32, rank=16),
    games=2048,
    window=2048,
    updates=400,
    minibatch=768,
    positions=48,
    mixture={"high": 0.5, "random": 0.5},
)
TESTED = 512  # games on which what was learnt is tested


def by_type(games: MixtureGames, of_plays: np.ndarray, player_type: int) -> float:
    """Mean over the plays, [G, 48], of players of one type."""
    leaders = np.asarray(games.states.leaders)
    stages = np.arange(LAST_STAGE)
    actors = (leaders[:, stages // 4] + stages) % 4
    types = np.take_along_axis(np.asarray(games.player_type), actors, axis=1)
    return float(of_plays[types == player_type].mean())


def test_learns_how_each_type_plays() -> None:
    """Who always plays the highest card is foreseen; who plays at random cannot be, and is not
    thought to be the other; players of unknown type are recognised by their plays."""
    mesh = games_mesh(jax.devices()[:2])
    pair = [high_player, random_player]
    games = play_mixture((3,), MODEL.games, pair, [0.5, 0.5], mesh)
    learner = init_state(MODEL, mesh).learner
    learn = compile_learn(MODEL, mesh)
    learner, _ = call_optimised(learn, learner, games, MODEL.games, jax.random.key(0))
    params = jax.device_get(learner.average)

    fresh = play_mixture((4,), MODEL.games, pair, [0.5, 0.5], mesh)
    fresh = jax.tree.map(lambda leaf: leaf[:TESTED], jax.device_get(fresh))
    stages = jnp.broadcast_to(jnp.arange(LAST_STAGE), (TESTED, LAST_STAGE))
    told_nll = jax.jit(lambda p, g: nll(p, g, stages, MODEL.network))
    of_plays, uniform, count = told_nll(params, fresh)
    assert np.all(np.asarray(count) == 1)
    of_plays, uniform = np.asarray(of_plays), np.asarray(uniform)
    assert by_type(fresh, of_plays, 0) < 0.35 * by_type(fresh, uniform, 0)
    assert abs(by_type(fresh, of_plays, 1) - by_type(fresh, uniform, 1)) < 0.1

    told = of_plays.sum()
    untold_nll = jax.jit(lambda p, g: held_out_nll(p, g, MODEL.network))
    untold, chance, plays = untold_nll(params, fresh.states)
    assert np.all(np.asarray(plays) == 12)
    np.testing.assert_allclose(np.sum(chance), uniform.sum(), rtol=1e-5)
    # Twelve plays tell the type, so little less than log 2 for each of four seats is lost by not
    # being told it.
    lost = (np.sum(untold) - told) / (4 * TESTED)
    assert np.log(2) - 0.1 < lost < np.log(2) + 0.01


@pytest.mark.parametrize("positions", [1, 16, 48])
def test_positions_are_spread_over_all_but_the_last_trick(positions: int) -> None:
    stages = np.asarray(random_stages(jax.random.key(0), 2000, positions))
    assert set(stages.ravel().tolist()) == set(range(LAST_STAGE))
    part = LAST_STAGE / positions
    assert np.all(stages // part == np.arange(positions))
    counts = np.bincount(stages.ravel())
    assert np.all(np.abs(counts / counts.mean() - 1) < 0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": 0}, "at least 1"),
        ({"window": 300}, "multiple of the games"),
        ({"learning_rate": 1e-9}, "final <= first"),
        ({"average": 1.0}, "average"),
        ({"positions": 24}, "multiple of the positions"),
        ({"mixture": {}}, "positive shares"),
        ({"network": OpponentModelConfig(player_types=2)}, "2 player types cannot be learnt"),
    ],
)
def test_bad_settings(options: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        replace(CONFIG, **options)


def test_the_player_that_learns_has_one_team_of_every_table() -> None:
    games = play_mixture((5,), 32, [high_player, random_player], [0.5, 0.5], games_mesh(), versus=1)
    types = np.asarray(games.player_type)
    assert np.all(types[:, [0, 1]] == types[:, [2, 3]])
    assert np.all(types[:, 0] != types[:, 1])
    assert set(types[:, 0]) == {0, 1}
    with pytest.raises(ConfigError, match="seating=versus needs a player labelled @self"):
        replace(CONFIG, seating="versus")
    with pytest.raises(ConfigError, match="seating must be one of mixed, versus"):
        replace(CONFIG, seating="round")
