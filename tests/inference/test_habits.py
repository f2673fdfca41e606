"""Habits: what they see, and that deals are weighed by how well they explain the plays."""

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
from gongzhu_jax.game.view import PublicView, unseen_mask, view, with_deal
from gongzhu_jax.inference.decision import Decision, effective_sample_size
from gongzhu_jax.inference.evidence import encode_contexts
from gongzhu_jax.inference.explanation import believed_holders
from gongzhu_jax.inference.habits import (
    NUM_SITUATION_FEATURES,
    HabitsConfig,
    HabitsNet,
    encode_situations,
    hands_then,
    load_habits,
    log_likelihood,
)
from gongzhu_jax.inference.sampling import sample
from gongzhu_jax.network.registry import NetworkConfig, make
from gongzhu_jax.players import scrofazero
from tests import beliefs, positions

STAGES = [0, 1, 3, 4, 17, 30, 42, 51]
DEALS = 5


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("habits")
    return {"habits": beliefs.save_habits(folder), "belief": beliefs.save_small(folder)}


@pytest.fixture(scope="module")
def small(files: dict[str, Path]) -> tuple[HabitsConfig, Any]:
    """Sizes and parameters."""
    return load_habits(files["habits"])


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
    found = jax.jit(jax.vmap(lambda state: encode_situations(view(state, 2))))(states)
    assert found.shape == (len(STAGES), 52, NUM_SITUATION_FEATURES)
    contexts = jax.jit(jax.vmap(lambda state: encode_contexts(view(state, 2))))(states)
    shown = 0
    for row in range(len(STAGES)):
        state = positions.take(states, row)
        for number in range(int(state.stage)):
            wanted = shown_before(state, number)
            shown += wanted.sum()
            np.testing.assert_array_equal(found[row, number, -12:], wanted.reshape(-1))
            np.testing.assert_array_equal(found[row, number, :-12], contexts[row, number])
    assert shown > 50


def test_a_situation_does_not_show_the_card() -> None:
    """Another last card leaves the last situation as it was."""
    states = positions.random_states(4, [30])
    before = positions.take(states, 0)
    legal = np.flatnonzero(env.legal_mask(before))
    assert len(legal) > 1
    rows = [encode_situations(view(env.step(before, jnp.int8(card)), 0))[30] for card in legal]
    for row in rows[1:]:
        np.testing.assert_array_equal(row, rows[0])


def test_hands_then_are_those_of_the_deal() -> None:
    views = positions.random_views(5, [38])
    mover = positions.take(views, 0)
    deal = sample(jax.random.key(0), mover, 1)[0]
    whole = with_deal(mover, deal)
    stages = jnp.flatnonzero(mover.seats[:38] != mover.seat)
    found = jax.jit(jax.vmap(hands_then, (None, None, 0)))(mover, deal, stages)
    then = jax.jit(jax.vmap(env.rewind, (None, 0)))(whole, stages)
    for row, stage in enumerate(stages):
        wanted = np.asarray(then.holder)[row] == int(mover.seats[stage])
        np.testing.assert_array_equal(found[row], wanted)


@functools.partial(jax.jit, static_argnums=0)
def one_play(config: HabitsConfig, params: Any, whole: env.GameState, stage: jax.Array):
    """Logits [kinds, 52] and legal cards of the actor of a play, from the game as it was then."""
    then = env.rewind(whole, stage)
    hand = then.holder == env.player_to_move(then)
    after = env.step(then, whole.plays[stage])
    situation = encode_situations(view(after, 0))[stage]
    return HabitsNet(config).apply(params, situation, hand), env.legal_mask(then)


def by_loops(small: tuple[HabitsConfig, Any], mover: PublicView, deal: jax.Array) -> float:
    """The log likelihood of one deal, play by play."""
    config, params = small
    whole, total = with_deal(mover, deal), np.zeros((4, config.kinds))
    for stage in range(int(mover.stage)):
        actor, card = int(mover.seats[stage]), int(mover.plays[stage])
        if actor == int(mover.seat):
            continue
        logits, legal = (np.asarray(part) for part in one_play(config, params, whole, stage))
        total[actor] += logits[:, card] - np.log(np.exp(logits[:, legal]).sum(axis=1))
    left, partner, right = (np.exp(total[(int(mover.seat) + i) % 4]) for i in (1, 2, 3))
    team = sum(
        (0.5 * (a == b) + 0.5 / config.kinds) / config.kinds * left[a] * right[b]
        for a, b in itertools.product(range(config.kinds), repeat=2)
    )
    return float(np.log(team * partner.mean()))


def test_likelihood_as_by_loops(small: tuple[HabitsConfig, Any]) -> None:
    """For decisions of different lengths at once; those that are not active get 0."""
    views = positions.random_views(6, [0, 2, 13, 27, 31])
    keys = jax.random.split(jax.random.key(1), 5)
    deals = jax.vmap(sample, (0, 0, None))(keys, views, DEALS)
    active = np.array([True, True, True, True, False])
    config, params = small
    found = jax.jit(lambda v, d, a: log_likelihood(params, v, d, config, a))(views, deals, active)
    wanted = [
        [by_loops(small, positions.take(views, row), deals[row, n]) for n in range(DEALS)]
        for row in range(4)
    ]
    np.testing.assert_allclose(found[:4], wanted, atol=1e-4)
    assert np.ptp(np.asarray(wanted)[3]) > 0.1
    assert not np.any(found[4])


def test_cards_that_the_viewer_sees_are_not_read(small: tuple[HabitsConfig, Any]) -> None:
    config, params = small
    views = positions.random_views(7, [22])
    mover = positions.take(views, 0)
    deal = sample(jax.random.key(0), mover, 1)
    other = jnp.where(unseen_mask(mover), deal, (deal + 1) % 4)
    weigh = jax.jit(lambda holder: log_likelihood(params, views, holder[None], config))
    first, second = (weigh(holder) for holder in (deal, other))
    np.testing.assert_array_equal(first, second)


def test_bad_sizes() -> None:
    with pytest.raises(ConfigError, match="at least 1"):
        HabitsConfig(kinds=0)


# Decisions by habits

SMALL = NetworkConfig("compact", stem=8, width=8, blocks=1)


def decision(files: dict[str, Path], mover: PublicView, **options: Any) -> Decision:
    common: dict[str, Any] = {"sampler": "uniform", "draws": 12, "base": 0, "per_legal": 1}
    params = make(SMALL).init(jax.random.key(0))
    player = players.from_network("scrofa", SMALL, params, **{**common, **files, **options})
    return scrofazero.explain(player, jax.random.key(2), mover)


def test_weights_of_a_decision(files: dict[str, Path], small: tuple[HabitsConfig, Any]) -> None:
    """By the likelihood to the power of the trust; with the belief, it has the rest."""
    mover = positions.take(positions.random_views(8, [36]), 0)
    by_habits = decision(files, mover, weights="habits", trust=0.7)
    deals = by_habits.scenarios.holder[0]
    logs = 0.7 * np.array([by_loops(small, mover, deal) for deal in deals])
    wanted = np.exp(logs) / np.exp(logs).sum()
    np.testing.assert_allclose(by_habits.weight[0], wanted, rtol=1e-3)
    by_belief = np.asarray(decision(files, mover, weights="belief", temper=0.5).weight[0])
    both = decision(files, mover, weights="belief-habits", temper=0.5, trust=0.7).weight[0]
    product = by_belief**0.3 * wanted
    np.testing.assert_allclose(both, product / product.sum(), rtol=2e-3)
    assert not np.allclose(both, by_belief, rtol=0.05)


@pytest.mark.slow
def test_some_of_many_are_searched(files: dict[str, Path]) -> None:
    """What is believed is what all candidates say, on average."""
    mover = positions.take(positions.random_views(8, [36]), 0)
    options = {"weights": "habits", "trust": 0.3}
    every = decision(files, mover, **options, draws=600)
    some = decision(files, mover, **options, draws=150, candidates=600)
    assert some.weight.shape == (1, 150)
    assert some.scenario_q.shape == (1, 150, 52)
    first, second = (
        np.asarray(believed_holders(found.scenarios.holder[0], found.weight[0]))
        for found in (every, some)
    )
    assert float(effective_sample_size(some.weight[0])) > 50
    np.testing.assert_allclose(first, second, atol=0.15)


def test_a_file_of_another_kind_is_refused(files: dict[str, Path]) -> None:
    mover = positions.take(positions.random_views(8, [36]), 0)
    with pytest.raises(CheckpointError, match="another kind: belief"):
        decision({"habits": files["belief"]}, mover, weights="habits")
