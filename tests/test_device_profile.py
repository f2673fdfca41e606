"""Sizes that suit a device change how fast things are done, and nothing else."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from gongzhu_jax import device_profile, players
from gongzhu_jax.device_profile import CPU, GPU, DeviceProfile, profile, using
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation import play_match
from gongzhu_jax.network import NetworkConfig, make
from gongzhu_jax.runtime import games_mesh
from gongzhu_jax.search import SearchConfig
from gongzhu_jax.training.config import LearnerConfig, SelfPlayConfig, TrainingConfig
from gongzhu_jax.training.epoch import compile_epoch, init_state
from tests import beliefs

NETWORK = NetworkConfig("compact", stem=16, width=16, blocks=1)
ODD = DeviceProfile(
    states=7,
    selfplay_states=5,
    scenarios=9,
    plays=3,
    greed_deals=45,
    decisions=2,
    deals=2,
    annotated_games=3,
    messages=1,
)


def both(work: Callable[[], Any]) -> tuple[Any, Any]:
    """`work` with the usual sizes and with odd ones."""
    usual = work()
    with using(ODD):
        return usual, work()


@pytest.mark.slow
def test_margins_do_not_depend_on_it(tmp_path: Path) -> None:
    """Of a player with a belief, an opponent model and a search, over Mr. Greed."""
    strong = players.from_network(
        "scrofa-strong",
        NETWORK,
        make(NETWORK).init(jax.random.key(0)),
        belief=beliefs.save_small(tmp_path),
        opponent_model=beliefs.save_opponent_model(tmp_path),
        scenarios={"draws": 4, "candidates": 6},
    )
    mesh = games_mesh(jax.devices()[:1])
    usual, odd = both(lambda: play_match(strong, players.make("greed"), 3, mesh=mesh).margins)
    np.testing.assert_array_equal(usual, odd)


def test_losses_do_not_depend_on_it() -> None:
    config = TrainingConfig(
        epochs=1,
        network=NETWORK,
        search=SearchConfig(per_legal=1),
        selfplay=SelfPlayConfig(games=8),
        learner=LearnerConfig(review=1, passes=1, minibatch=104),
    )
    mesh = games_mesh(jax.devices()[:1])
    # One function for both: jit must notice the change of sizes by itself.
    epoch = compile_epoch(config, mesh)
    usual, odd = both(lambda: jax.device_get(epoch(init_state(config, mesh))[1]))
    np.testing.assert_allclose(usual.losses, odd.losses, rtol=1e-4)
    assert usual.selfplay.margin == odd.selfplay.margin
    assert usual.selfplay.demanded == odd.selfplay.demanded
    assert odd.selfplay.evaluated % ODD.selfplay_states == 0
    assert usual.selfplay.evaluated > odd.selfplay.evaluated


def test_sizes_of_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    assert profile() == CPU
    assert device_profile.PROFILES["tpu"] == GPU
    monkeypatch.setenv(device_profile.ENVIRONMENT, "plays=64,deals=9")
    assert profile() == replace(CPU, plays=64, deals=9)
    for wrong in ("plays=-3", "plays=0", "lanes=3", "plays"):
        monkeypatch.setenv(device_profile.ENVIRONMENT, wrong)
        with pytest.raises(ConfigError, match=wrong.split("=")[0]):
            profile()
    for value in (0, True, 2.5, "64"):
        with pytest.raises(ConfigError, match="chunk must be a whole number"):
            SearchConfig(chunk=value)  # ty: ignore[invalid-argument-type]
