"""A belief and habits to test with."""

from pathlib import Path
from typing import Any

import jax

from gongzhu_jax.inference import belief, habits
from gongzhu_jax.inference.belief import BeliefConfig, init_belief
from gongzhu_jax.inference.habits import HabitsConfig, init_habits
from gongzhu_jax.network.weights import save_weights

SCALE = 0.12  # of the noise that stands for training


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
    save_weights(path, config, params, {}, "float32", belief.KIND)
    return path


def save_habits(folder: Path) -> Path:
    """The file of untrained habits that are far from even."""
    config = HabitsConfig(kinds=3, reader=8, width=8, rank=4)
    params = perturbed(init_habits(jax.random.key(0), config))
    path = folder / "habits.safetensors"
    save_weights(path, config, params, {}, "float32", habits.KIND)
    return path
