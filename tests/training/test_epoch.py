"""Whole epochs of a tiny run: devices, window, number of updates, learning, determinism."""

import functools
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from experiments.common import hlo
from gongzhu_jax.checkpoint import digest
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.network import NetworkConfig, make
from gongzhu_jax.runtime import games_mesh
from gongzhu_jax.search import SearchConfig
from gongzhu_jax.training.config import LearnerConfig, SelfPlayConfig, TrainingConfig
from gongzhu_jax.training.epoch import compile_epoch, init_state, state_shapes
from gongzhu_jax.training.learner import Learner, learn, make_optimiser, update_once
from tests.optimised import OPTIMISED

# 832 positions an epoch are 8 minibatches. The rmse is that of a whole minibatch, however split.
CONFIG = TrainingConfig(
    epochs=3,
    network=NetworkConfig("compact", stem=32, width=16, blocks=1),
    search=SearchConfig(search_forced=True, chunk=16),
    selfplay=SelfPlayConfig(games=16),
    learner=LearnerConfig(review=2, passes=2, minibatch=104, value_loss="rmse"),
)


class Run(NamedTuple):
    """A run, on the host."""

    states: list[Any]  # TrainState before the first and after every epoch
    metrics: list[Any]


@functools.cache
def program(devices: int) -> Any:
    return compile_epoch(CONFIG, games_mesh(jax.devices()[:devices]))


def run(devices: int) -> Run:
    state: Any = init_state(CONFIG, games_mesh(jax.devices()[:devices]))
    states, metrics = [on_host(state)], []
    for _ in range(CONFIG.epochs):
        state, reported = program(devices)(state)
        states.append(on_host(state))
        metrics.append(jax.device_get(reported))
    return Run(states, metrics)


def on_host(state: Any) -> Any:
    """A copy: the next epoch takes the state's memory."""
    return jax.tree.map(np.array, state.replace(key=jax.random.key_data(state.key)))


@pytest.fixture(scope="module")
def one_device() -> Run:
    return run(1)


@pytest.fixture(scope="module")
def all_devices() -> Run:
    return run(jax.device_count())


def test_the_number_of_devices_does_not_matter(one_device: Run, all_devices: Run) -> None:
    """The same games and losses up to the rounding of sums."""
    assert jax.device_count() > 1
    for one, every in zip(one_device.states, all_devices.states, strict=True):
        np.testing.assert_array_equal(one.window.state.plays, every.window.state.plays)
        np.testing.assert_allclose(one.window.value, every.window.value, rtol=1e-4, atol=1e-3)
    for one, every in zip(one_device.metrics, all_devices.metrics, strict=True):
        np.testing.assert_allclose(one.losses, every.losses, rtol=1e-4)
        assert one.selfplay.demanded == every.selfplay.demanded
        assert one.selfplay.margin == every.selfplay.margin


def test_messages_between_devices() -> None:
    """None in a loop of self-play; in one update the sum of squared errors, whose root the gradient
    needs, and then gradients and losses as one vector. (tests/test_lowering.py has the other way,
    with one message.)"""
    mesh = games_mesh()
    compiled = hlo.parse(program(mesh.size).lower(state_shapes(CONFIG, mesh)).compile().as_text())
    sent = [compiled.collectives(body) for _, _, body in compiled.loops()]
    assert len(sent) > 4
    (update,) = filter(None, sent)
    assert [message.opcode for message in update] == ["all-reduce", "all-reduce"]
    assert "f32[]" in update[0].type


def test_starts_from_given_parameters() -> None:
    """Those that the configuration names by their digest, and no others."""
    mesh = games_mesh(jax.devices()[:2])
    network = make(CONFIG.network)
    params = network.init(jax.random.key(5))
    config = replace(CONFIG, start=digest(params))
    state = init_state(config, mesh, params)
    for learnt in (state.learner.params, state.learner.average):
        jax.tree.map(np.testing.assert_array_equal, learnt, params)
    others = network.init(jax.random.key(6))
    for wrong, given in ((config, others), (config, None), (CONFIG, params)):
        with pytest.raises(ConfigError, match="not the ones"):
            init_state(wrong, mesh, given)
    wide = make(replace(CONFIG.network, width=24)).init(jax.random.key(5))
    with pytest.raises(ConfigError, match="another network"):
        init_state(replace(CONFIG, start=digest(wide)), mesh, wide)


def test_the_window_fills_up(one_device: Run) -> None:
    """Two epochs are kept: each new one goes where the oldest is."""
    windows = [state.window for state in one_device.states]
    assert [int(state.epoch) for state in one_device.states] == [0, 1, 2, 3]
    empty, first, second, third = windows
    assert empty.value.shape == (2, 16, 52)
    assert not empty.policy.any()
    np.testing.assert_allclose(first.policy[0].sum(-1), 1, rtol=1e-5)
    same(first, 1, empty, 1)
    same(second, 0, first, 0)
    np.testing.assert_allclose(second.policy[1].sum(-1), 1, rtol=1e-5)
    same(third, 1, second, 1)
    # Other games than in the epoch whose place they take, and than in the other one.
    deals = [first.state.holder[0, :, 0], second.state.holder[1, :, 0], third.state.holder[0, :, 0]]
    assert len({tuple(deal) for epoch in deals for deal in epoch.tolist()}) == 3 * 16


def same(window: Any, slot: int, other: Any, other_slot: int) -> None:
    at = (slot, other_slot)
    jax.tree.map(lambda a, b: np.testing.assert_array_equal(a[at[0]], b[at[1]]), window, other)


def updates(state: Any) -> int:
    """How many the optimiser has made."""
    _, adam, rate = state.learner.optimiser
    assert adam.count == rate.count
    return int(adam.count)


def test_number_of_updates(one_device: Run) -> None:
    """2 passes over 8 minibatches, then over 16 when the window holds two epochs."""
    assert [updates(state) for state in one_device.states] == [0, 16, 16 + 32, 16 + 32 + 32]
    assert CONFIG.updates_per_epoch == 32
    assert CONFIG.total_updates == 80
    assert replace(CONFIG, epochs=1).total_updates == 16
    assert replace(CONFIG, epochs=10).total_updates == 16 + 9 * 32


def test_without_averaging_the_learner_itself_plays(one_device: Run) -> None:
    before, after = one_device.states[0].learner, one_device.states[-1].learner
    jax.tree.map(np.testing.assert_array_equal, after.average, after.params)
    changed = jax.tree.map(lambda a, b: bool(np.any(a != b)), before.params, after.params)
    assert all(jax.tree.leaves(changed))


def test_the_same_seed_gives_the_same_run(all_devices: Run) -> None:
    again = run(jax.device_count())
    jax.tree.map(np.testing.assert_array_equal, again, all_devices)


def test_another_seed_gives_another_run(all_devices: Run) -> None:
    start: Any = init_state(replace(CONFIG, seed=1), games_mesh())
    first = all_devices.states[0].learner.params["params"]["stem_0"]["kernel"]
    assert np.any(start.learner.params["params"]["stem_0"]["kernel"] != first)
    after, metrics = program(jax.device_count())(start)
    assert np.any(after.window.state.holder != all_devices.states[1].window.state.holder)
    assert metrics.losses.total != all_devices.metrics[0].losses.total


def test_learning_lowers_the_loss(one_device: Run) -> None:
    """Twelve times the two passes over one and the same window."""
    config = replace(CONFIG, epochs=100)
    mesh = games_mesh(jax.devices()[:1])
    state = one_device.states[2]
    run_learner = jax.jit(
        functools.partial(learn, config=config, mesh=mesh),
        donate_argnums=0,
        compiler_options=OPTIMISED,
    )
    learner = jax.tree.map(jnp.asarray, one_device.states[0].learner)
    losses = []
    for number in range(12):
        learner, parts = run_learner(learner, state.window, 2, jax.random.key(number))
        losses.append(jax.device_get(parts))
    assert updates(state.replace(learner=learner)) == 12 * 32
    first, last = losses[0], losses[-1]
    assert last.policy < 0.2 * first.policy
    assert last.value < first.value  # slowly: its weight is small and its gradient of size 1
    assert last.total < 0.3 * first.total


def test_one_update(one_device: Run) -> None:
    """Adam's first step is the rate in the direction of each gradient, the L2 term included; the
    average moves by a quarter of the way."""
    learner_config = replace(
        CONFIG.learner, average=0.75, learning_rate=1e-2, final_learning_rate=1e-2
    )
    config = replace(CONFIG, learner=learner_config)
    network = make(config.network)
    params: Any = one_device.states[0].learner.params
    learner = Learner(params, params, make_optimiser(config).init(params["params"]))
    window = one_device.states[1].window
    batch = jax.tree.map(lambda leaf: leaf[0, 0], window)
    after, _ = jax.jit(functools.partial(update_once, network=network, config=config))(
        learner, batch
    )

    def expect(old: Any, new: Any, average: Any) -> None:
        moved = np.abs(new - old)
        assert moved.max() == pytest.approx(1e-2, rel=1e-3)
        # Only where a gradient is about as small as Adam's epsilon is the step shorter.
        assert np.median(moved) == pytest.approx(1e-2, rel=1e-2)
        np.testing.assert_allclose(average, 0.75 * old + 0.25 * new, atol=1e-7)

    jax.tree.map(expect, params, after.params, after.average)


# Settings


def test_games_that_do_not_divide_over_the_devices() -> None:
    learner = LearnerConfig(minibatch=52)
    config = replace(CONFIG, selfplay=SelfPlayConfig(games=13), learner=learner)
    with pytest.raises(ConfigError, match=rf"13 games .* {jax.device_count()} devices"):
        init_state(config, games_mesh())


def test_minibatches_that_do_not_divide_over_the_devices() -> None:
    config = replace(CONFIG, learner=LearnerConfig(minibatch=13))
    with pytest.raises(ConfigError, match=rf"minibatches of 13 .* {jax.device_count()} devices"):
        init_state(config, games_mesh())


@pytest.mark.parametrize(
    ("part", "options", "message"),
    [
        (TrainingConfig, {"learner": LearnerConfig(minibatch=60)}, "minibatches of 60"),
        (TrainingConfig, {"epochs": 0}, "at least 1 epoch"),
        (TrainingConfig, {"search": SearchConfig(rollout="trick")}, "rollout"),
        (SelfPlayConfig, {"games": 0}, "games"),
        (SelfPlayConfig, {"random_play": 1.5}, "random_play"),
        (SelfPlayConfig, {"td_lambda": -0.1}, "td_lambda"),
        (SelfPlayConfig, {"blunder": -1.0}, "blunder"),
        (LearnerConfig, {"review": 0}, "review"),
        (LearnerConfig, {"minibatch": 0}, "minibatch"),
        (LearnerConfig, {"learning_rate": 1e-4}, "final"),
        (LearnerConfig, {"average": 1.0}, "average"),
    ],
)
def test_bad_settings(part: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        part(**options)
