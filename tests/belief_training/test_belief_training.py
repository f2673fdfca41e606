"""Learning of the belief against players whose plays give their hands away."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from gongzhu_jax.belief_training import (
    BeliefTrainingConfig,
    compile_learn,
    init_state,
    nll,
    play_mixture,
    random_stages,
)
from gongzhu_jax.belief_training.learner import LAST_STAGE
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game import env
from gongzhu_jax.inference.belief import BeliefConfig
from gongzhu_jax.runtime import games_mesh
from tests.evaluation.simple_players import high_player, random_player

CONFIG = BeliefTrainingConfig(
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
def games() -> env.GameState:
    """Everybody always plays the highest legal card: who plays low has nothing higher."""
    return play_mixture((0,), CONFIG.games, [high_player], [1.0], games_mesh())


def gain(params, games: env.GameState) -> np.ndarray:
    """Nats per position better than if all deals were alike."""
    stages = random_stages(jax.random.key(9), CONFIG.games, 1)
    believed, uniform, unseen = jax.jit(lambda p, g: nll(p, g, stages, CONFIG.network))(
        params, games
    )
    assert np.all(np.asarray(unseen) == 52 - stages - (51 - stages) // 4 - 1)
    return np.asarray(uniform - believed)


def test_learns_what_plays_give_away(games: env.GameState) -> None:
    mesh = games_mesh(jax.devices()[:2])
    state = init_state(CONFIG, mesh)
    before = gain(jax.device_get(state.learner.average), games)
    learner, loss = compile_learn(CONFIG, mesh)(
        state.learner, games, CONFIG.games, jax.random.key(0)
    )
    after = gain(jax.device_get(learner.average), games)
    assert abs(before.mean()) < 0.3
    assert after.mean() > 0.6
    assert np.isfinite(float(loss))


def test_the_number_of_devices_does_not_matter(games: env.GameState) -> None:
    config = replace(CONFIG, updates=2)

    def train(devices: int):
        mesh = games_mesh(jax.devices()[:devices])
        learner = init_state(config, mesh).learner
        return jax.device_get(
            compile_learn(config, mesh)(learner, games, CONFIG.games, jax.random.key(0))
        )

    (one, loss), (eight, other) = train(1), train(8)
    assert loss == pytest.approx(other, rel=1e-5)
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, atol=2e-5), one.average, eight.average
    )


def test_mixture_of_tables() -> None:
    """Half of the tables are two teams of one kind each; the rest are seats for themselves."""
    mesh = games_mesh()
    states = play_mixture((1,), 64, [high_player, random_player], [0.5, 0.5], mesh)
    assert np.all(states.stage == 52)
    again = play_mixture((1,), 64, [high_player, random_player], [0.5, 0.5], mesh)
    np.testing.assert_array_equal(states.plays, again.plays)
    other = play_mixture((2,), 64, [high_player, random_player], [0.5, 0.5], mesh)
    assert np.any(states.plays != other.plays)


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
    ],
)
def test_bad_settings(options: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        replace(CONFIG, **options)
