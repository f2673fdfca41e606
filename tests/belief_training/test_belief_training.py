"""Learning of the belief and of habits from players whose plays give their hands away."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax.belief_training import (
    BeliefTrainingConfig,
    Tables,
    compile_learn,
    init_state,
    nll,
    nll_of_strangers,
    play_mixture,
    random_stages,
)
from gongzhu_jax.belief_training.losses import LAST_STAGE
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.inference.belief import BeliefConfig
from gongzhu_jax.inference.habits import HabitsConfig
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
def tables() -> Tables:
    """Everybody always plays the highest legal card: who plays low has nothing higher."""
    return play_mixture((0,), CONFIG.games, [high_player], [1.0], games_mesh())


def gain(params, tables: Tables) -> np.ndarray:
    """Nats per position better than if all deals were alike."""
    stages = random_stages(jax.random.key(9), CONFIG.games, 1)
    believed, uniform, unseen = jax.jit(lambda p, t: nll(p, t, stages, CONFIG.network))(
        params, tables
    )
    assert np.all(np.asarray(unseen) == 52 - stages - (51 - stages) // 4 - 1)
    return np.asarray(uniform - believed)


def test_learns_what_plays_give_away(tables: Tables) -> None:
    mesh = games_mesh(jax.devices()[:2])
    state = init_state(CONFIG, mesh)
    before = gain(jax.device_get(state.learner.average), tables)
    learner, loss = compile_learn(CONFIG, mesh)(
        state.learner, tables, CONFIG.games, jax.random.key(0)
    )
    after = gain(jax.device_get(learner.average), tables)
    assert abs(before.mean()) < 0.3
    assert after.mean() > 0.6
    assert np.isfinite(float(loss))


def test_the_number_of_devices_does_not_matter(tables: Tables) -> None:
    config = replace(CONFIG, updates=2)

    def train(devices: int):
        mesh = games_mesh(jax.devices()[:devices])
        learner = init_state(config, mesh).learner
        return jax.device_get(
            compile_learn(config, mesh)(learner, tables, CONFIG.games, jax.random.key(0))
        )

    (one, loss), (eight, other) = train(1), train(8)
    assert loss == pytest.approx(other, rel=1e-5)
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, atol=2e-5), one.average, eight.average
    )


def test_mixture_of_tables() -> None:
    """Half of the tables are two teams of one kind each; the rest are seats for themselves."""
    mesh, pair = games_mesh(), [high_player, random_player]
    tables = play_mixture((1,), 64, pair, [0.5, 0.5], mesh)
    games, kinds = tables.games, np.asarray(tables.kinds)
    assert np.all(games.stage == 52)
    of_teams = np.all(kinds[:, :2] == kinds[:, 2:], axis=1)
    assert 32 <= of_teams.sum() < 64
    assert set(kinds.ravel().tolist()) == {0, 1}
    again = play_mixture((1,), 64, pair, [0.5, 0.5], mesh)
    np.testing.assert_array_equal(games.plays, again.games.plays)
    other = play_mixture((2,), 64, pair, [0.5, 0.5], mesh)
    assert np.any(games.plays != other.games.plays)


# Habits

HABITS = replace(
    CONFIG,
    network=HabitsConfig(kinds=2, reader=32, width=32, rank=16),
    games=2048,
    window=2048,
    updates=400,
    minibatch=768,
    positions=48,
    mixture={"high": 0.5, "random": 0.5},
)


def by_kind(tables: Tables, found: np.ndarray, kind: int) -> float:
    """Mean over the plays, [G, 48], of players of one kind."""
    leaders = np.asarray(tables.games.leaders)
    stages = np.arange(LAST_STAGE)
    actors = (leaders[:, stages // 4] + stages) % 4
    kinds = np.take_along_axis(np.asarray(tables.kinds), actors, axis=1)
    return float(found[kinds == kind].mean())


def test_learns_how_each_kind_plays() -> None:
    """Who always plays the highest card is foreseen; who plays at random cannot be, and is not
    thought to be the other; strangers are recognised by their plays."""
    mesh = games_mesh(jax.devices()[:2])
    pair = [high_player, random_player]
    tables = play_mixture((3,), HABITS.games, pair, [0.5, 0.5], mesh)
    learner = init_state(HABITS, mesh).learner
    learner, _ = compile_learn(HABITS, mesh)(learner, tables, HABITS.games, jax.random.key(0))
    params = jax.device_get(learner.average)

    fresh = play_mixture((4,), HABITS.games, pair, [0.5, 0.5], mesh)
    stages = jnp.broadcast_to(jnp.arange(LAST_STAGE), (HABITS.games, LAST_STAGE))
    found, alike, count = jax.jit(lambda p, t: nll(p, t, stages, HABITS.network))(params, fresh)
    assert np.all(np.asarray(count) == 1)
    found, alike = np.asarray(found), np.asarray(alike)
    assert by_kind(fresh, found, 0) < 0.35 * by_kind(fresh, alike, 0)
    assert abs(by_kind(fresh, found, 1) - by_kind(fresh, alike, 1)) < 0.1

    told = found.sum()
    untold, chance, plays = jax.jit(lambda p, g: nll_of_strangers(p, g, HABITS.network))(
        params, fresh.games
    )
    assert np.all(np.asarray(plays) == 12)
    np.testing.assert_allclose(np.sum(chance), alike.sum(), rtol=1e-5)
    # At most log 2 for each of four seats is lost by not being told the kind.
    lost = (np.sum(untold) - told) / (4 * HABITS.games)
    assert 0 < lost < np.log(2) + 0.01


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
        ({"network": HabitsConfig(kinds=2)}, "2 kinds of players cannot be learnt"),
    ],
)
def test_bad_settings(options: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        replace(CONFIG, **options)
