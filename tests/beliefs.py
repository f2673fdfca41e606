"""A belief and an opponent model to test with."""

from pathlib import Path
from typing import Any

import jax

from gongzhu_jax.network.weights import save_weights
from gongzhu_jax.opponents import card_belief, opponent_model
from gongzhu_jax.opponents.card_belief import BeliefConfig, init_belief
from gongzhu_jax.opponents.opponent_model import OpponentModelConfig, init_opponent_model

SCALE = 0.12  # of the noise that stands for training


@jax.jit
def perturbed(params: Any) -> Any:
    """Parameters with noise, so that odds are far from even."""
    leaves, tree = jax.tree.flatten(params)
    keys = jax.random.split(jax.random.key(1), len(leaves))
    noise = [SCALE * jax.random.normal(k, old.shape) for k, old in zip(keys, leaves, strict=True)]
    return jax.tree.map(jax.numpy.add, params, jax.tree.unflatten(tree, noise))


def save_small(folder: Path) -> Path:
    """The file of an untrained belief whose odds are far from even."""
    config = BeliefConfig(reader=8, width=8, blocks=1)
    params = perturbed(init_belief(jax.random.key(0), config))
    path = folder / "small.safetensors"
    save_weights(path, config, params, {}, "float32", card_belief.KIND)
    return path


def save_opponent_model(folder: Path) -> Path:
    """The file of an untrained opponent model that is far from uniform."""
    config = OpponentModelConfig(player_types=3, reader=8, width=8, rank=4)
    params = perturbed(init_opponent_model(jax.random.key(0), config))
    path = folder / "opponent_model.safetensors"
    save_weights(path, config, params, {}, "float32", opponent_model.KIND)
    return path
