"""A network that sees one view learns what players that search think of each card."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax.game import env
from gongzhu_jax.game.public_view import PublicView, view
from gongzhu_jax.inference.constraints import constraints
from gongzhu_jax.mixture_training import (
    MixtureGames,
    MixtureTrainingConfig,
    compile_learn,
    init_state,
    play_mixture,
    random_stages,
)
from gongzhu_jax.mixture_training.distillation import distillation_figures
from gongzhu_jax.network.features import encode, feature_slices
from gongzhu_jax.network.policy_value import NetworkConfig, make
from gongzhu_jax.opponents.card_belief import BeliefConfig, log_odds
from gongzhu_jax.opponents.distilled_policy import (
    DistilledConfig,
    apply_games,
    apply_views,
    init_distilled,
)
from gongzhu_jax.runtime import games_mesh
from tests import positions
from tests.evaluation.simple_players import high_player
from tests.optimised import call_optimised

NETWORK = DistilledConfig(
    BeliefConfig(reader=16, width=32, blocks=1),
    NetworkConfig(stem=32, width=16, blocks=1),
    width=64,
    blocks=1,
)
CONFIG = MixtureTrainingConfig(
    epochs=1,
    network=NETWORK,
    games=128,
    window=128,
    updates=120,
    minibatch=256,
    positions=8,
    learning_rate=3e-3,
    final_learning_rate=1e-3,
    average=0.9,
    mixture={"high": 1.0},
)


@pytest.fixture(scope="module")
def games() -> MixtureGames:
    """A teacher whose Q is 3 points for every rank: it plays the highest card."""
    played = play_mixture((0,), CONFIG.games, [high_player], [1.0], games_mesh())

    def q_of(game: env.GameState) -> jax.Array:
        states = jax.vmap(env.rewind, (None, 0))(game, jnp.arange(52, dtype=jnp.int8))
        legal = jax.vmap(env.legal_mask)(states)
        choice = jnp.sum(legal, axis=1, keepdims=True) > 1
        rank = jnp.asarray(np.arange(52) % 13, jnp.float32)[None]
        return jnp.where(legal & choice, 3 * rank + 40, -jnp.inf).astype(jnp.float16)

    return jax.device_get(played.replace(q=jax.jit(jax.vmap(q_of))(played.states)))


@pytest.fixture(scope="module")
def params() -> Any:
    return init_distilled(jax.random.key(4), NETWORK)


_figures = jax.jit(lambda params, *where: distillation_figures(params, *where, NETWORK))
_apply_views = jax.jit(lambda params, views: apply_views(params, views, NETWORK))


@jax.jit
@functools.partial(jax.vmap, in_axes=(None, 0))
@functools.partial(jax.vmap, in_axes=(0, None))
def _views_at(game: env.GameState, stage: jax.Array) -> PublicView:
    """What the players to move see at stages [K] of games [G], leaves [K, G, ...]."""
    state = env.rewind(game, stage)
    return view(state, env.player_to_move(state))


def test_learns_the_teachers_opinion(games: MixtureGames) -> None:
    mesh = games_mesh(jax.devices()[:2])
    state = init_state(CONFIG, mesh)
    stages = random_stages(jax.random.key(9), CONFIG.games, 4)
    before = jax.device_get(_figures(jax.device_get(state.learner.average), games, stages))
    learn = compile_learn(CONFIG, mesh)
    learner, _ = call_optimised(learn, state.learner, games, CONFIG.games, jax.random.key(0))
    after = jax.device_get(_figures(jax.device_get(learner.average), games, stages))
    assert after.regret.sum() < 0.2 * before.regret.sum()
    assert after.q_error.sum() < 0.3 * before.q_error.sum()
    assert after.play_nll.sum() < 0.5 * before.play_nll.sum()


def test_figures_equal_a_count_by_hand(games: MixtureGames, params: Any) -> None:
    """Regret and error of Q at one decision, in NumPy from the network's own outputs."""
    stages = jnp.full((CONFIG.games, 4), 5, jnp.int8)
    figures = jax.device_get(_figures(params, games, stages))
    views = positions.take(jax.device_get(_views_at(games.states, np.array([5], np.int8))), 0)
    out = jax.device_get(_apply_views(params, views))
    decided = 0
    for game in range(16):
        q = np.asarray(games.q)[game, 5].astype(np.float64)
        legal = np.flatnonzero(np.isfinite(q))
        assert bool(figures.decided[game, 0]) == (len(legal) > 0)
        if not len(legal):
            continue
        decided += 1
        said = out.q[game][legal].astype(np.float64)
        error = (said - said.mean()) - (q[legal] - q[legal].mean())
        np.testing.assert_allclose(figures.q_error[game, 0], np.mean(error**2), rtol=1e-3)
        regret = q[legal].max() - q[legal[np.argmax(said)]]
        np.testing.assert_allclose(figures.regret[game, 0], regret, atol=1e-3)
        logits = out.logits[game][legal].astype(np.float64)
        played = list(legal).index(int(games.states.plays[game, 5]))
        nll = np.log(np.exp(logits - logits.max()).sum()) - (logits[played] - logits.max())
        np.testing.assert_allclose(figures.play_nll[game, 0], nll, rtol=1e-3, atol=1e-4)
    assert decided > 4


def test_reading_a_game_once_gives_the_same(games: MixtureGames, params: Any) -> None:
    stages = np.array([3, 20, 33, 44], np.int8)
    views = jax.device_get(_views_at(games.states, stages))
    views = jax.tree.map(lambda leaf: np.swapaxes(leaf, 0, 1), views)
    whole = jax.jit(jax.vmap(view, (0, None)))(games.states, 0)
    together = jax.jit(lambda p, w, v: apply_games(p, w, v, NETWORK))(params, whole, views)
    for number in range(len(stages)):
        single = _apply_views(params, positions.take(views, np.s_[:, number]))
        jax.tree.map(
            lambda a, b, n=number: np.testing.assert_allclose(a[:, n], b, atol=1e-4),
            together,
            single,
        )


def test_untrained_it_is_the_policy_on_the_believed_hands(games: MixtureGames, params: Any) -> None:
    """The inputs of the policy-value network are filled in by hand, card by card, from the odds of
    the belief, which the others may hold that are not known to be void."""

    def shaken(leaf: jax.Array) -> jax.Array:
        return leaf + 0.1 * jax.random.normal(jax.random.key(2), leaf.shape)

    belief, guess = ({"params": params["params"][name]} for name in ("belief", "policy_value"))
    belief = jax.tree.map(shaken, belief)  # untrained, all odds are even
    params = {"params": {**params["params"], "belief": belief["params"]}}
    states = jax.device_get(jax.vmap(env.rewind, (0, None))(games.states, jnp.int8(30)))
    views = jax.jit(jax.vmap(lambda state: view(state, env.player_to_move(state))))(states)
    out = jax.device_get(_apply_views(params, views))
    odds = np.exp(jax.jit(lambda *given: log_odds(*given, NETWORK.belief))(belief, views))
    known = jax.device_get(jax.vmap(constraints)(views))
    inputs = np.array(jax.vmap(encode)(states))
    hands = inputs[:, feature_slices()["hands"]].reshape(-1, 4, 52)
    for game, card in zip(*np.nonzero(known.unseen), strict=True):
        share = odds[game, card] * known.allowed[game, :, card // 13]
        hands[game, 1:, card] = share / share.sum()
    inputs[:, feature_slices()["hands"]] = hands.reshape(-1, 4 * 52)
    assert np.ptp(hands[:, 1:][known.unseen[:, None].repeat(3, 1)]) > 0.2
    logits, _ = jax.jit(make(NETWORK.policy_value).apply)(guess, inputs)
    np.testing.assert_allclose(out.logits, logits, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(out.q, 5 * logits, rtol=1e-3, atol=5e-3)
