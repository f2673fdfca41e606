"""Several runs in one program are those that each would have been alone."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from gongzhu_jax.checkpoint import BEST, Checkpoints
from gongzhu_jax.network import NetworkConfig
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.runtime import games_mesh
from gongzhu_jax.search import SearchConfig
from gongzhu_jax.training import LearnerConfig, Schedule, SelfPlayConfig, TrainingConfig, train
from gongzhu_jax.training.epoch import init_state
from gongzhu_jax.training.seeds import Runs, compile_epochs, train_seeds

CONFIG = TrainingConfig(
    epochs=2,
    network=NetworkConfig("compact", stem=16, width=8, blocks=1),
    search=SearchConfig(per_legal=1, chunk=16),
    selfplay=SelfPlayConfig(games=8),
    learner=LearnerConfig(review=1, passes=1, minibatch=104, average=0.5),
)
SEEDS = (3, 4)
SCHEDULE = Schedule(evaluate_every=1, checkpoint_every=1)


def mesh() -> jax.sharding.Mesh:
    return games_mesh(jax.devices()[:2])


def close(one: Any, other: Any) -> None:
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), one, other)


def evaluate(params: Any, epoch: int) -> dict[str, float]:
    """The sum of all parameters in place of a match."""
    total = sum(float(leaf.sum()) for leaf in jax.tree.leaves(params))
    return {"wpg": total, "wpg_stderr": 1.0}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The parameters of each run by itself."""
    states = []
    for seed in SEEDS:
        folder = tmp_path_factory.mktemp("alone")
        config = replace(CONFIG, seed=seed)
        states.append(train(config, mesh(), Checkpoints(folder), SCHEDULE))
    return [jax.device_get(state.learner.params) for state in states]


def test_each_run_is_as_if_it_were_alone(alone: list[Any], tmp_path: Path) -> None:
    rows: list[Any] = []
    options: dict[str, Any] = {"evaluate": evaluate, "on_epoch": rows.append}
    # Stopped after the first epoch, and gone on with.
    train_seeds(CONFIG, SEEDS, mesh(), tmp_path, SCHEDULE, should_stop=lambda: True, **options)
    runs = train_seeds(CONFIG, SEEDS, mesh(), tmp_path, SCHEDULE, **options)
    assert [row["epoch"] for row in rows] == [1, 2]
    params = jax.device_get(runs.states.learner.params)
    for number, expected in enumerate(alone):
        close(jax.tree.map(lambda leaf, i=number: leaf[i], params), expected)
    assert not np.allclose(*jax.tree.leaves(params)[0])

    last = rows[-1]
    values = [last[f"wpg_seed_{seed}"] for seed in SEEDS]
    assert last["wpg"] == pytest.approx(np.mean(values))
    assert last["wpg_stderr"] == pytest.approx(abs(values[0] - values[1]) / 2)

    # The folder of each is that of a run: players load it, and it goes on alone.
    for number, seed in enumerate(SEEDS):
        folder = tmp_path / f"seed-{seed}"
        network, kept = load_weights(folder)
        assert network == CONFIG.network
        average = jax.tree.map(lambda leaf, i=number: leaf[i], runs.states.learner.average)
        if Checkpoints(folder).epochs(BEST) == [2]:
            close(kept, jax.device_get(average))
        state = train(replace(CONFIG, seed=seed), mesh(), Checkpoints(folder), SCHEDULE)
        close(jax.device_get(state.learner.params), alone[number])


def test_at_once_or_one_after_the_other(alone: list[Any]) -> None:
    starts = [init_state(replace(CONFIG, seed=seed), mesh()) for seed in SEEDS]
    runs = Runs(jax.tree.map(lambda *leaves: jax.numpy.stack(leaves), *starts))
    compiled = compile_epochs(CONFIG, mesh(), at_once=True)
    for _ in range(CONFIG.epochs):
        runs, _ = compiled(runs)
    params = jax.device_get(runs.states.learner.params)
    for number, expected in enumerate(alone):
        close(jax.tree.map(lambda leaf, i=number: leaf[i], params), expected)
