"""Several runs in one program are those that each would have been alone."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from gongzhu_jax.checkpoint import BEST, Checkpoints
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.network import NetworkConfig
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.runtime import games_mesh
from gongzhu_jax.search import SearchConfig
from gongzhu_jax.training import (
    LearnerConfig,
    Schedule,
    SelfPlayConfig,
    TrainingConfig,
    train,
    train_runs,
)
from gongzhu_jax.training.runs import (
    compile_epochs,
    figure_of_run,
    init_runs,
    numbers_of,
    with_numbers,
)

CONFIG = TrainingConfig(
    epochs=2,
    network=NetworkConfig("compact", stem=16, width=8, blocks=1),
    search=SearchConfig(per_legal=1, chunk=16),
    selfplay=SelfPlayConfig(games=8),
    learner=LearnerConfig(review=1, passes=1, minibatch=104, average=0.5),
)
NUMBERS = {"learning_rate": 5e-3, "final_learning_rate": 2e-4, "value_weight": 0.3, "average": 0.2}
CONFIGS = {
    "seed-3": replace(CONFIG, seed=3),
    "other-numbers": replace(
        CONFIG,
        seed=4,
        selfplay=replace(CONFIG.selfplay, random_play=0.3, td_lambda=0.6),
        learner=replace(CONFIG.learner, **NUMBERS),
    ),
}
SCHEDULE = Schedule(evaluate_every=1, checkpoint_every=1)


def mesh() -> jax.sharding.Mesh:
    return games_mesh(jax.devices()[:2])


def close(one: Any, other: Any) -> None:
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), one, other)


def evaluate(params: Any, epoch: int) -> dict[str, float]:
    """The sum of all parameters in place of a match."""
    total = sum(float(leaf.sum()) for leaf in jax.tree.leaves(jax.device_get(params)))
    return {"wpg": total, "wpg_stderr": 1.0}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The parameters of each run by itself."""
    states = []
    for config in CONFIGS.values():
        folder = tmp_path_factory.mktemp("alone")
        states.append(train(config, mesh(), Checkpoints(folder), SCHEDULE))
    return [jax.device_get(state.learner.params) for state in states]


def test_each_run_is_as_if_it_were_alone(alone: list[Any], tmp_path: Path) -> None:
    rows: list[Any] = []
    options: dict[str, Any] = {"evaluate": evaluate, "on_epoch": rows.append}
    # Stopped after the first epoch, and gone on with.
    train_runs(CONFIGS, mesh(), tmp_path, SCHEDULE, should_stop=lambda: True, **options)
    runs = train_runs(CONFIGS, mesh(), tmp_path, SCHEDULE, **options)
    assert [row["epoch"] for row in rows] == [1, 2]
    params, averages = jax.device_get((runs.states.learner.params, runs.states.learner.average))
    for number, expected in enumerate(alone):
        close(jax.tree.map(lambda leaf, i=number: leaf[i], params), expected)
    assert not np.allclose(*jax.tree.leaves(params)[0])

    last = rows[-1]
    values = [last[figure_of_run("wpg", name)] for name in CONFIGS]
    assert "wpg_seed_3" in last  # as the curve with a band over seeds reads it
    assert last["wpg"] == pytest.approx(np.mean(values))
    assert last["wpg_stderr"] == pytest.approx(abs(values[0] - values[1]) / 2)

    # The folder of each is that of a run: players load it, and it goes on alone.
    for number, (name, config) in enumerate(CONFIGS.items()):
        folder = tmp_path / name
        network, kept = load_weights(folder)
        assert network == CONFIG.network
        average = jax.tree.map(lambda leaf, i=number: leaf[i], averages)
        if Checkpoints(folder).epochs(BEST) == [2]:
            close(kept, average)
        state = train(config, mesh(), Checkpoints(folder), SCHEDULE)
        close(jax.device_get(state.learner.params), alone[number])


def test_at_once_or_one_after_the_other(alone: list[Any]) -> None:
    runs = init_runs(list(CONFIGS.values()), mesh())
    compiled = compile_epochs(CONFIG, mesh(), at_once=True)
    for _ in range(CONFIG.epochs):
        runs, _ = compiled(runs)
    params = jax.device_get(runs.states.learner.params)
    for number, expected in enumerate(alone):
        close(jax.tree.map(lambda leaf, i=number: leaf[i], params), expected)


def test_numbers_are_those_of_the_configuration() -> None:
    numbers = numbers_of(CONFIGS["other-numbers"])
    wanted = ("learner.learning_rate", "learner.value_weight", "selfplay.random_play")
    assert {*wanted, "selfplay.td_lambda"} <= set(numbers)
    assert replace(with_numbers(CONFIG, numbers), seed=4) == CONFIGS["other-numbers"]
    assert numbers_of(CONFIG)["learner.value_weight"] == 0.03  # itself it is not changed
    more_games = replace(CONFIG, selfplay=SelfPlayConfig(games=16))
    with pytest.raises(ConfigError, match="differ in seeds and numbers only"):
        init_runs([CONFIG, more_games], mesh())
