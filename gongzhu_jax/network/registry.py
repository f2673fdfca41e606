"""Networks by name, as a pair of pure functions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from gongzhu_jax.errors import ConfigError
from gongzhu_jax.network.features import NUM_FEATURES
from gongzhu_jax.network.policy_value import ResNet18, SkipMLP

Params = Any
"""Linen collections: "params", which are trained, and for ResNet18 "batch_stats" beside them."""

PRECISIONS = {"float32": jnp.float32, "bfloat16": jnp.bfloat16}


@dataclass(frozen=True)
class NetworkConfig:
    """Which network; `width`, `blocks` and `stem` are for `compact` only."""

    name: str = "compact"
    width: int = 256  # of the skip blocks
    blocks: int = 4  # skip blocks of two layers each
    stem: int = 512  # width of the first layer
    precision: str = "float32"  # of the matrix products; bfloat16 pays on accelerators

    def __post_init__(self) -> None:
        if self.name not in _BUILDERS:
            raise ConfigError(f"unknown network {self.name!r}; there are {', '.join(_BUILDERS)}")
        if self.precision not in PRECISIONS:
            raise ConfigError(
                f"unknown precision {self.precision!r}; there are {', '.join(PRECISIONS)}"
            )
        if min(self.width, self.blocks, self.stem) < 1:
            raise ConfigError("width, blocks and stem of a network must be at least 1")


@dataclass(frozen=True)
class Network:
    """A pair of pure functions: `init(key)`, `apply(params, features) -> (logits, value)`."""

    config: NetworkConfig
    module: nn.Module

    def init(self, key: jax.Array) -> Params:
        return self.module.init(key, jnp.zeros((1, NUM_FEATURES)))

    def apply(self, params: Params, features: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Playing: batch normalisation, where there is any, uses the running statistics."""
        return self.module.apply(params, features)  # ty: ignore[invalid-return-type]

    def apply_train(self, params: Params, features: jax.Array):
        """Learning: ((logits, value), params with the new running statistics)."""
        mutable = [name for name in params if name != "params"]
        outputs, updated = self.module.apply(params, features, train=True, mutable=mutable)
        return outputs, {**params, **updated}


def _skip_mlp(blocks: int) -> Callable[[NetworkConfig, str | None], nn.Module]:
    return lambda c, axis: SkipMLP((2048, 2048, 512), blocks, PRECISIONS[c.precision])


_BUILDERS: Mapping[str, Callable[[NetworkConfig, str | None], nn.Module]] = {
    "compact": lambda c, axis: SkipMLP((c.stem, c.width), c.blocks, PRECISIONS[c.precision]),
    "fc16": _skip_mlp(blocks=6),
    "fc24": _skip_mlp(blocks=10),
    "resnet18": lambda c, axis: ResNet18(PRECISIONS[c.precision], axis),
}


def make(name: str | NetworkConfig = "compact", axis: str | None = None, **options: Any) -> Network:
    """The network of that name; `options` as in `NetworkConfig`.

    `axis` names the mesh axis over which a minibatch is split while learning, so that batch
    normalisation takes the statistics of the whole.
    """
    if isinstance(name, NetworkConfig):
        return Network(name, _BUILDERS[name.name](name, axis))
    known = {field.name for field in fields(NetworkConfig)} - {"name"}
    if unknown := sorted(set(options) - known):
        raise ConfigError(f"unknown network option {unknown[0]!r}; there are {sorted(known)}")
    return make(NetworkConfig(name, **options), axis)


def count_parameters(params: Params) -> int:
    """Trainable parameters."""
    return sum(leaf.size for leaf in jax.tree.leaves(params["params"]))
