"""The opponent model: what it sees, and that scenarios are weighed by how well it explains the
plays."""

import functools
import itertools
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax import players
from gongzhu_jax.errors import CheckpointError, ConfigError
from gongzhu_jax.game import env
from gongzhu_jax.game.public_view import PublicView, unseen_mask, view, with_deal
from gongzhu_jax.inference.decision import Decision, effective_sample_size
from gongzhu_jax.inference.explanation import believed_holders
from gongzhu_jax.inference.sampling import sample
from gongzhu_jax.network.policy_value import NetworkConfig, make
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.opponents.opponent_model import (
    KIND,
    NUM_SITUATION_FEATURES,
    OpponentModelConfig,
    OpponentModelNet,
    encode_situations,
    hands_then,
    log_likelihood,
)
from gongzhu_jax.opponents.play_features import encode_contexts
from gongzhu_jax.players import scrofazero
from tests import beliefs, positions

STAGES = [0, 1, 3, 4, 17, 30, 42, 51]
DEALS = 5
_with_deal = jax.jit(with_deal)
_sample = jax.jit(sample, static_argnums=2)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    return {
        "opponent_model": beliefs.save_opponent_model(folder),
        "belief": beliefs.save_small(folder),
    }


@pytest.fixture(scope="module")
def small(files: dict[str, Path]) -> tuple[OpponentModelConfig, Any]:
    """Sizes and parameters."""
    return load_weights(files["opponent_model"], KIND)


def shown_before(state: env.GameState, number: int) -> np.ndarray:
    """[3, 4] by a loop over the plays before."""
    plays, leaders = np.asarray(state.plays), np.asarray(state.leaders)
    actor = (leaders[number // 4] + number) % 4
    voids = np.zeros((4, 4))
    for before in range(number):
        lead = plays[before // 4 * 4] // 13
        if plays[before] // 13 != lead:
            voids[(leaders[before // 4] + before) % 4, lead] = 1
    return voids[[(actor + i) % 4 for i in (1, 2, 3)]]


def test_situations_as_by_loops() -> None:
    states = positions.random_states(3, STAGES)
    situations = jax.jit(jax.vmap(lambda state: encode_situations(view(state, 2))))(states)
    assert situations.shape == (len(STAGES), 52, NUM_SITUATION_FEATURES)
    contexts = jax.jit(jax.vmap(lambda state: encode_contexts(view(state, 2))))(states)
    shown = 0
    for row in range(len(STAGES)):
        state = positions.take(states, row)
        for number in range(int(state.stage)):
            wanted = shown_before(state, number)
            shown += wanted.sum()
            np.testing.assert_array_equal(situations[row, number, -12:], wanted.reshape(-1))
            np.testing.assert_array_equal(situations[row, number, :-12], contexts[row, number])
    assert shown > 50


def test_a_situation_does_not_show_the_card() -> None:
    """Another last card leaves the last situation as it was."""
    states = positions.random_states(4, [30])
    before = positions.take(states, 0)
    legal = np.flatnonzero(env.legal_mask(before))
    assert len(legal) > 1

    @jax.jit
    def last_situation(card: jax.Array) -> jax.Array:
        return encode_situations(view(env.step(before, card), 0))[30]

    rows = [np.asarray(last_situation(jnp.int8(card))) for card in legal]
    for row in rows[1:]:
        np.testing.assert_array_equal(row, rows[0])


def test_hands_then_are_those_of_the_deal() -> None:
    views = positions.random_views(5, [38])
    mover = positions.take(views, 0)
    deal = _sample(jax.random.key(0), mover, 1)[0]
    whole = _with_deal(mover, deal)
    stages = np.flatnonzero(mover.seats[:38] != mover.seat)
    hands = jax.jit(jax.vmap(hands_then, (None, None, 0)))(mover, deal, stages)
    then = jax.jit(jax.vmap(env.rewind, (None, 0)))(whole, stages)
    for row, stage in enumerate(stages):
        wanted = np.asarray(then.holder)[row] == int(mover.seats[stage])
        np.testing.assert_array_equal(hands[row], wanted)


@functools.partial(jax.jit, static_argnums=0)
def one_play(config: OpponentModelConfig, params: Any, whole: env.GameState, stage: jax.Array):
    """Logits [player_types, 52] and legal cards of the actor of a play, from the game before it."""
    then = env.rewind(whole, stage)
    hand = then.holder == env.player_to_move(then)
    after = env.step(then, whole.plays[stage])
    situation = encode_situations(view(after, 0))[stage]
    return OpponentModelNet(config).apply(params, situation, hand), env.legal_mask(then)


def by_loops(small: tuple[OpponentModelConfig, Any], mover: PublicView, deal: jax.Array) -> float:
    """The log likelihood of one deal, play by play."""
    config, params = small
    whole, total = _with_deal(mover, deal), np.zeros((4, config.player_types))
    for stage in range(int(mover.stage)):
        actor, card = int(mover.seats[stage]), int(mover.plays[stage])
        if actor == int(mover.seat):
            continue
        logits, legal = (np.asarray(part) for part in one_play(config, params, whole, stage))
        total[actor] += logits[:, card] - np.log(np.exp(logits[:, legal]).sum(axis=1))
    left, partner, right = (np.exp(total[(int(mover.seat) + i) % 4]) for i in (1, 2, 3))
    team = sum(
        (0.5 * (a == b) + 0.5 / config.player_types) / config.player_types * left[a] * right[b]
        for a, b in itertools.product(range(config.player_types), repeat=2)
    )
    return float(np.log(team * partner.mean()))


def test_likelihood_as_by_loops(small: tuple[OpponentModelConfig, Any]) -> None:
    """For decisions of different lengths at once; those that are not active get 0."""
    views = positions.random_views(6, [0, 2, 13, 27, 31])
    keys = jax.random.split(jax.random.key(1), 5)
    deals = np.asarray(jax.jit(jax.vmap(lambda k, v: sample(k, v, DEALS)))(keys, views))
    active = np.array([True, True, True, True, False])
    config, params = small
    log_likelihoods = jax.jit(lambda v, d, a: log_likelihood(params, v, d, config, a))(
        views, deals, active
    )
    wanted = [
        [by_loops(small, positions.take(views, row), deals[row, n]) for n in range(DEALS)]
        for row in range(4)
    ]
    np.testing.assert_allclose(log_likelihoods[:4], wanted, atol=1e-4)
    assert np.ptp(np.asarray(wanted)[3]) > 0.1
    assert not np.any(log_likelihoods[4])


def test_cards_that_the_viewer_sees_are_not_read(small: tuple[OpponentModelConfig, Any]) -> None:
    config, params = small
    views = positions.random_views(7, [22])
    mover = positions.take(views, 0)
    deal = _sample(jax.random.key(0), mover, 1)
    other = jnp.where(unseen_mask(mover)[None], deal, (deal + 1) % 4)
    weigh = jax.jit(lambda views, holder: log_likelihood(params, views, holder[None], config))
    first, second = (weigh(views, holder) for holder in (deal, other))
    np.testing.assert_array_equal(first, second)


def test_bad_sizes() -> None:
    with pytest.raises(ConfigError, match="at least 1"):
        OpponentModelConfig(player_types=0)


# Decisions by the opponent model

SMALL = NetworkConfig("compact", stem=8, width=8, blocks=1)


def decision(files: dict[str, Path], mover: PublicView, **options: Any) -> Decision:
    common: dict[str, Any] = {
        "scenarios.stratified": False,
        "scenarios.draws": 12,
        "search": {"base": 0, "per_legal": 1},
    }
    params = make(SMALL).init(jax.random.key(0))
    player = players.from_network("scrofa", SMALL, params, **{**common, **files, **options})
    return scrofazero.decision_of(player, mover, jax.random.key(2))


def test_weights_of_a_decision(
    files: dict[str, Path], small: tuple[OpponentModelConfig, Any]
) -> None:
    """A log-linear pool of the likelihood and the belief."""
    mover = positions.take(positions.random_views(8, [36]), 0)
    model = {"rule": "opponent-model", "rule_power": 0.7}
    by_model = decision(files, mover, weights=model)
    deals = by_model.scenarios.holder[0]
    logs = 0.7 * np.array([by_loops(small, mover, deal) for deal in deals])
    wanted = np.exp(logs) / np.exp(logs).sum()
    np.testing.assert_allclose(by_model.weight[0], wanted, rtol=1e-3)
    belief = {"rule": "none", "belief_power": 0.5}
    by_belief = np.asarray(decision(files, mover, weights=belief).weight[0])
    both = decision(files, mover, weights={**model, "belief_power": 0.15}).weight[0]
    product = by_belief**0.3 * wanted
    np.testing.assert_allclose(both, product / product.sum(), rtol=2e-3)
    assert not np.allclose(both, by_belief, rtol=0.05)


@pytest.mark.slow
def test_some_of_many_are_searched(files: dict[str, Path]) -> None:
    """What is believed is what all candidates say, on average."""
    mover = positions.take(positions.random_views(8, [36]), 0)
    weights = {"rule": "opponent-model", "rule_power": 0.3}
    many: dict[str, Any] = {"scenarios.draws": 600}
    few: dict[str, Any] = {"scenarios.draws": 150, "scenarios.candidates": 600}
    every = decision(files, mover, weights=weights, **many)
    some = decision(files, mover, weights=weights, **few)
    assert some.weight.shape == (1, 150)
    assert some.scenario_q.shape == (1, 150, 52)
    first, second = (
        np.asarray(believed_holders(decided.scenarios.holder[0], decided.weight[0]))
        for decided in (every, some)
    )
    assert float(effective_sample_size(some.weight[0])) > 50
    np.testing.assert_allclose(first, second, atol=0.15)


def test_a_file_of_another_kind_is_refused(files: dict[str, Path]) -> None:
    mover = positions.take(positions.random_views(8, [36]), 0)
    with pytest.raises(CheckpointError, match="another kind: belief"):
        decision({"opponent_model": files["belief"]}, mover, weights={"rule": "opponent-model"})
