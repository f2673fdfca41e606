"""Habits: what they see, and that deals are weighed by how well they explain the plays."""

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
from gongzhu_jax.inference.decision import Decision
from gongzhu_jax.inference.evidence import encode_contexts
from gongzhu_jax.inference.habits import (
    KIND,
    NUM_SITUATION_FEATURES,
    HabitsConfig,
    HabitsNet,
    encode_situations,
    hands_then,
    init_habits,
    log_likelihood,
)
from gongzhu_jax.inference.sampling import sample
from gongzhu_jax.network.registry import NetworkConfig, make
from gongzhu_jax.network.weights import save_weights
from gongzhu_jax.players import scrofazero
from tests import beliefs, positions

STAGES = [0, 1, 3, 4, 17, 30, 42, 51]
CONFIG = HabitsConfig(kinds=3, reader=8, width=8, rank=4)
DEALS = 5


@pytest.fixture(scope="module")
def params() -> Any:
    return beliefs.perturbed(init_habits(jax.random.key(0), CONFIG))


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
    rows = [encode_situations(view(env.step(before, card), 0))[30] for card in legal]
    for row in rows[1:]:
        np.testing.assert_array_equal(row, rows[0])


def test_hands_then_are_those_of_the_deal() -> None:
    views = positions.random_views(5, [38])
    mover = positions.take(views, 0)
    deal = sample(jax.random.key(0), mover, 1)[0]
    whole = with_deal(mover, deal)
    for stage in range(38):
        if int(mover.seats[stage]) == int(mover.seat):
            continue
        then = env.rewind(whole, stage)
        wanted = np.asarray(then.holder) == int(mover.seats[stage])
        np.testing.assert_array_equal(hands_then(mover, deal, jnp.int32(stage)), wanted)


def by_loops(params: Any, mover: PublicView, deal: jax.Array) -> float:
    """The log likelihood of one deal, play by play."""
    whole, total = with_deal(mover, deal), np.zeros((4, CONFIG.kinds))
    for stage in range(int(mover.stage)):
        actor = int(mover.seats[stage])
        if actor == int(mover.seat):
            continue
        then = env.rewind(whole, stage)
        hand = np.asarray(then.holder) == actor
        card = int(mover.plays[stage])
        situation = encode_situations(view(env.step(then, card), 0))[stage]
        logits = np.asarray(HabitsNet(CONFIG).apply(params, situation, hand), np.float64)
        legal = np.flatnonzero(env.legal_mask(then))
        total[actor] += logits[:, card] - np.log(np.exp(logits[:, legal]).sum(axis=1))
    others = np.delete(total, int(mover.seat), axis=0)
    return float(np.log(np.exp(others).mean(axis=1)).sum())


def test_likelihood_as_by_loops(params: Any) -> None:
    """For decisions of different lengths at once; those that are not active get 0."""
    views = positions.random_views(6, [0, 2, 13, 27, 31])
    keys = jax.random.split(jax.random.key(1), 5)
    deals = jax.vmap(sample, (0, 0, None))(keys, views, DEALS)
    active = np.array([True, True, True, True, False])
    found = jax.jit(lambda v, d, a: log_likelihood(params, v, d, CONFIG, a))(views, deals, active)
    wanted = [
        [by_loops(params, positions.take(views, row), deals[row, n]) for n in range(DEALS)]
        for row in range(4)
    ]
    np.testing.assert_allclose(found[:4], wanted, atol=1e-4)
    assert np.ptp(np.asarray(wanted)[3]) > 0.1
    assert not np.any(found[4])


def test_cards_that_the_viewer_sees_are_not_read(params: Any) -> None:
    views = positions.random_views(7, [22])
    mover = positions.take(views, 0)
    deal = sample(jax.random.key(0), mover, 1)
    other = jnp.where(unseen_mask(mover), deal, (deal + 1) % 4)
    found = [log_likelihood(params, views, holder[None], CONFIG) for holder in (deal, other)]
    np.testing.assert_array_equal(*found)


def test_bad_sizes() -> None:
    with pytest.raises(ConfigError, match="at least 1"):
        HabitsConfig(kinds=0)


# Decisions by habits

SMALL = NetworkConfig("compact", stem=8, width=8, blocks=1)


@pytest.fixture(scope="module")
def files(tmp_path_factory, params: Any) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("habits")
    path = folder / "habits.safetensors"
    save_weights(path, CONFIG, params, {}, "float32", KIND)
    return {"habits": path, "belief": beliefs.save_small(folder)}


def decision(files: dict[str, Path], mover: PublicView, **options: Any) -> Decision:
    common = {"sampler": "uniform", "draws": 32, "base": 0, "per_legal": 1}
    player = players.from_network(
        "scrofa", SMALL, make(SMALL).init(jax.random.key(0)), **files, **{**common, **options}
    )
    return scrofazero.explain(player, jax.random.key(2), mover)


def test_weights_of_a_decision(files: dict[str, Path], params: Any) -> None:
    """By the likelihood to the power of the trust; with the belief, the product of both."""
    mover = positions.take(positions.random_views(8, [36]), 0)
    by_habits = decision(files, mover, weights="habits", trust=0.7)
    deals = by_habits.scenarios.holder[0]
    logs = 0.7 * np.array([by_loops(params, mover, deal) for deal in deals])
    wanted = np.exp(logs) / np.exp(logs).sum()
    np.testing.assert_allclose(by_habits.weight[0], wanted, rtol=1e-3)
    by_belief = np.asarray(decision(files, mover, weights="belief", temper=0.5).weight[0])
    both = decision(files, mover, weights="belief-habits", temper=0.5, trust=0.7).weight[0]
    product = by_belief * wanted
    np.testing.assert_allclose(both, product / product.sum(), rtol=2e-3)
    assert not np.allclose(both, by_belief, rtol=0.05)


def test_a_file_of_another_kind_is_refused(files: dict[str, Path]) -> None:
    mover = positions.take(positions.random_views(8, [36]), 0)
    with pytest.raises(CheckpointError, match="another kind: belief"):
        decision({"habits": files["belief"]}, mover, weights="habits")
