"""A belief to test with."""

from pathlib import Path

import jax

from gongzhu_jax.inference.belief import KIND, BeliefConfig, init_belief
from gongzhu_jax.network.weights import save_weights


def save_small(folder: Path) -> Path:
    """The file of an untrained belief whose odds are far from even."""
    config = BeliefConfig(stem=8, width=8, blocks=1)
    params = jax.tree.map(lambda leaf: 2 * leaf, init_belief(jax.random.key(0), config))
    path = folder / "small.safetensors"
    save_weights(path, config, params, {}, "float32", KIND)
    return path
