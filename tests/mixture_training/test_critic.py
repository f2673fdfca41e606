"""Values of play among players who do not see each other's hands."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax import players
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game import env
from gongzhu_jax.mixture_training import (
    MixtureGames,
    MixtureTrainingConfig,
    compile_epoch,
    init_state,
    play_mixture,
)
from gongzhu_jax.mixture_training.critic import annotate, critic_loss, td_targets
from gongzhu_jax.network.policy_value import NetworkConfig, Params, make
from gongzhu_jax.players.scrofazero import from_network
from gongzhu_jax.runtime import games_mesh
from tests.evaluation.simple_players import high_player, random_player

NETWORK = NetworkConfig("compact", width=16, blocks=1, stem=16)
CONFIG = MixtureTrainingConfig(
    epochs=3,
    network=NETWORK,
    games=8,
    window=8,
    updates=4,
    minibatch=32,
    positions=8,
    learning_rate=1e-3,
    final_learning_rate=2e-5,
    average=0.998,
    mixture={"raw@self": 0.5, "random": 0.5},
    random_play=0.1,
    td_lambda=0.6,
)


@pytest.fixture(scope="module")
def games() -> MixtureGames:
    pair = [high_player, random_player]
    return jax.device_get(play_mixture((3,), 16, pair, [0.5, 0.5], games_mesh()))


@pytest.fixture(scope="module")
def params() -> Params:
    return make(NETWORK).init(jax.random.key(0))


@pytest.fixture(scope="module")
def annotated(games: MixtureGames, params: Params) -> MixtureGames:
    """With the values and the policy of one network."""
    network = make(NETWORK)
    run = jax.jit(lambda games, params: annotate(games, params, params, network, 1, 0.5))
    return jax.device_get(run(games, params))


def plain_targets(path, outcome: int, mine: np.ndarray, values: np.ndarray, td_lambda: float):
    """The targets of one game, state by state in Python, from the definition: the weights of the
    values of later states that are learnt fall by lambda, the outcome takes what is left."""
    movers, margins = jax.device_get(movers_and_margins(path))
    targets = np.full(52, np.nan)
    for stage in range(1, 52):
        if not mine[stage - 1]:
            continue
        total, weight = 0.0, 1.0
        for later in range(stage + 1, 48):
            if mine[later - 1]:
                sign = 1 if movers[later] % 2 == 0 else -1
                total += weight * (1 - td_lambda) * sign * (margins[later] + values[later])
                weight *= td_lambda
        total += weight * outcome
        targets[stage] = (1 if movers[stage] % 2 == 0 else -1) * total - margins[stage]
    return targets


@jax.jit
@jax.vmap
def movers_and_margins(state: env.GameState) -> tuple[jax.Array, jax.Array]:
    mover = env.player_to_move(state)
    return mover, env.team_margin(state, mover)


@jax.jit
@jax.vmap
def path_of(final: env.GameState) -> env.GameState:
    """The states of a game before each play, [52]."""
    return jax.vmap(env.rewind, (None, 0))(final, jnp.arange(52, dtype=jnp.int8))


targets_of = jax.jit(td_targets)  # one program for all lambda


@pytest.mark.parametrize("td_lambda", [0.0, 0.6, 1.0])
def test_targets_equal_the_definition(games: MixtureGames, td_lambda: float) -> None:
    rng = np.random.default_rng(0)
    states = jax.device_get(path_of(games.states))
    for number in range(4):
        final, path = jax.tree.map(lambda leaf: leaf[number], (games.states, states))  # noqa: B023
        mine = rng.random(52) < 0.6
        values = rng.normal(0, 30, 52).astype(np.float32)
        targets = targets_of(path, final, mine, values, jnp.float32(td_lambda))
        wanted = plain_targets(path, int(env.team_margin(final, 0)), mine, values, td_lambda)
        np.testing.assert_allclose(np.asarray(targets), wanted, atol=2e-3)


def test_only_states_after_plays_of_the_player_are_learnt(
    games: MixtureGames, annotated: MixtureGames
) -> None:
    seats = np.asarray(jax.vmap(env.play_seats)(games.states.leaders, games.states.stage))
    types = np.take_along_axis(np.asarray(games.player_type), seats, axis=1)
    learnt = ~np.isnan(np.asarray(annotated.value))
    np.testing.assert_array_equal(learnt[:, 1:], types[:, :-1] == 1)
    assert not learnt[:, 0].any()


def test_the_kept_policy_has_no_gradient_where_it_is_kept(
    params: Params, annotated: MixtureGames
) -> None:
    """With the parameters that are kept and no values to learn there is nothing to change."""
    network = make(NETWORK)
    nothing = annotated.replace(value=np.full((16, 52), np.nan, np.float32))
    stages = jnp.tile(jnp.arange(0, 48, 4, dtype=jnp.int8), (16, 1))

    @jax.jit
    @jax.grad
    def gradient(params: Params, games: MixtureGames) -> jax.Array:
        return jnp.mean(critic_loss(params, games, stages, network)[0])

    def size(games: MixtureGames) -> float:
        return sum(float(np.abs(leaf).sum()) for leaf in jax.tree.leaves(gradient(params, games)))

    assert size(nothing) < 0.02 * size(annotated)


def make_seated(params) -> list[players.Player]:
    return [from_network("raw", NETWORK, params, scenarios={"draws": 2}), players.make("random")]


def test_epochs_change_the_values_and_repeat_exactly() -> None:
    mesh = games_mesh(jax.devices()[:2])
    start = make(NETWORK).init(jax.random.key(1))

    run_epoch = compile_epoch(CONFIG, make_seated(start), mesh, None, start)

    def run() -> tuple:
        state = init_state(CONFIG, mesh)
        for _ in range(2):
            state, figures = run_epoch(state)
        return jax.device_get(state), figures

    first, figures = run()
    again, _ = run()
    jax.tree.map(np.testing.assert_array_equal, first, again)
    assert np.isfinite(figures["loss"])
    assert np.isfinite(np.asarray(first.window.value)).any()
    before = init_state(CONFIG, mesh).learner.params
    assert not np.allclose(
        np.asarray(before["params"]["stem_0"]["kernel"]),
        first.learner.params["params"]["stem_0"]["kernel"],
    )


def test_a_critic_needs_one_player_that_is_itself() -> None:
    with pytest.raises(ConfigError, match="@self"):
        replace(CONFIG, mixture={"random": 1.0})
