"""Policy-value networks by name: 434 inputs to 52 policy logits and one value (supplement).

The value is in points: the margin still to come for the team of the player to move.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from gongzhu_jax.errors import ConfigError, check_choice
from gongzhu_jax.game.cards import NUM_CARDS
from gongzhu_jax.network.features import NUM_FEATURES, undiffused

VALUE_SCALE = 10.0
"""The value head's output is multiplied by this, so that its weights stay small."""

POLICY_SHARPNESS = 0.2
"""The policy is learnt as softmax(0.2 Q), Q in points, so the logits are about 0.2 q."""


class SkipBlock(nn.Module):
    """x + relu(W2 relu(W1 x))."""

    width: int
    dtype: jnp.dtype

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        y = nn.relu(nn.Dense(self.width, dtype=self.dtype, name="first")(x))
        return x + nn.relu(nn.Dense(self.width, dtype=self.dtype, name="second")(y))


class Heads(nn.Module):
    """52 logits and a value in points, both float32 whatever the trunk's precision."""

    @nn.compact
    def __call__(self, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        x = x.astype(jnp.float32)
        # One product for both heads: two thin ones cost a small network twice the time.
        out = nn.Dense(NUM_CARDS + 1, name="policy_value")(x)
        return out[..., :NUM_CARDS], out[..., NUM_CARDS] * VALUE_SCALE


class SkipMLP(nn.Module):
    """Fully connected layers of `stem` widths, then skip blocks of the last width."""

    stem: Sequence[int]
    blocks: int
    dtype: jnp.dtype = jnp.float32

    @nn.compact
    def __call__(self, x: jax.Array, train: bool = False) -> tuple[jax.Array, jax.Array]:
        x = x.astype(self.dtype)
        for number, width in enumerate(self.stem):
            x = nn.relu(nn.Dense(width, dtype=self.dtype, name=f"stem_{number}")(x))
        for number in range(self.blocks):
            x = SkipBlock(self.stem[-1], self.dtype, name=f"block_{number}")(x)
        return Heads(name="heads")(x)


def _batch_norm(train: bool, dtype: jnp.dtype, axis: str | None, name: str) -> nn.BatchNorm:
    axis = axis if train else None
    return nn.BatchNorm(not train, momentum=0.9, dtype=dtype, axis_name=axis, name=name)


class Conv(nn.Module):
    """A convolution without a bias, as `nn.Conv` has it, whose gradient is also fast on CPUs.

    On CPUs, XLA compiles the gradient of a convolution inside a loop to a program that is tens of
    times slower than outside of one, and all learning happens inside loops. A convolution is also a
    product of the kernel with shifted copies of the image side by side, which is as fast in a loop.
    """

    channels: int
    size: int  # of the kernel, which is square
    stride: int
    padding: int
    dtype: jnp.dtype

    @nn.compact
    def __call__(self, x: jax.Array, train: bool) -> jax.Array:
        shape = (self.size, self.size, x.shape[-1], self.channels)
        kernel = self.param("kernel", nn.initializers.lecun_normal(), shape)
        inputs = x.astype(self.dtype), kernel.astype(self.dtype)
        if not train:
            return self._convolve(*inputs)
        return jax.lax.platform_dependent(*inputs, cpu=self._shift, default=self._convolve)

    def _convolve(self, x: jax.Array, kernel: jax.Array) -> jax.Array:
        padding = [(self.padding, self.padding)] * 2
        strides, layout = (self.stride, self.stride), ("NHWC", "HWIO", "NHWC")
        images = x.reshape(-1, *x.shape[-3:])
        y = jax.lax.conv_general_dilated(images, kernel, strides, padding, dimension_numbers=layout)
        return y.reshape(*x.shape[:-3], *y.shape[1:])

    def _shift(self, x: jax.Array, kernel: jax.Array) -> jax.Array:
        pad = (self.padding, self.padding)
        x = jnp.pad(x, [(0, 0)] * (x.ndim - 3) + [pad, pad, (0, 0)])
        height, width = ((side - self.size) // self.stride + 1 for side in x.shape[-3:-1])
        shifted = [
            x[..., row :: self.stride, column :: self.stride, :][..., :height, :width, :]
            for row in range(self.size)
            for column in range(self.size)
        ]
        return jnp.concatenate(shifted, axis=-1) @ kernel.reshape(-1, self.channels)


class BasicBlock(nn.Module):
    """Two 3x3 convolutions with batch normalisation and a shortcut (ResNet18)."""

    channels: int
    stride: int
    dtype: jnp.dtype
    axis: str | None  # mesh axis over which the batch is split

    @nn.compact
    def __call__(self, x: jax.Array, train: bool) -> jax.Array:

        def conv(x: jax.Array, size: int, stride: int, name: str) -> jax.Array:
            layer = Conv(self.channels, size, stride, size // 2, self.dtype, name=name)
            return layer(x, train)

        norm = functools.partial(_batch_norm, train, self.dtype, self.axis)
        y = nn.relu(norm("norm_0")(conv(x, 3, self.stride, "conv_0")))
        y = norm("norm_1")(conv(y, 3, 1, "conv_1"))
        if x.shape != y.shape:
            x = norm("norm_skip")(conv(x, 1, self.stride, "conv_skip"))
        return nn.relu(x + y)


class ResNet18(nn.Module):
    """ResNet18 on the inputs laid out as a 32 x 32 image of three channels."""

    dtype: jnp.dtype = jnp.float32
    axis: str | None = None

    @nn.compact
    def __call__(self, x: jax.Array, train: bool = False) -> tuple[jax.Array, jax.Array]:
        x = as_image(x).astype(self.dtype)
        x = Conv(64, 5, 1, 1, self.dtype, name="conv")(x, train)
        x = nn.relu(_batch_norm(train, self.dtype, self.axis, "norm")(x))
        for stage, channels in enumerate((64, 128, 256, 512)):
            for number in range(2):
                stride = 2 if stage > 0 and number == 0 else 1
                name = f"stage_{stage}_{number}"
                block = BasicBlock(channels, stride, self.dtype, self.axis, name=name)
                x = block(x, train)
        return Heads(name="heads")(jnp.mean(x, axis=(-3, -2)))


def as_image(x: jax.Array) -> jax.Array:
    """Lays inputs [..., 434] out as [..., 32, 32, 3]: each channel has the inputs twice, padded
    with zeros at the end, at both sides or at the start."""
    twice = jnp.concatenate([x, x], axis=-1)
    room = 32 * 32 - 2 * NUM_FEATURES
    keep = [(0, 0)] * (x.ndim - 1)
    pads = ((0, room), (room // 2, room - room // 2), (room, 0))
    channels = [jnp.pad(twice, [*keep, pad]).reshape(*x.shape[:-1], 32, 32) for pad in pads]
    return jnp.stack(channels, axis=-1)


Params = Any
"""Linen collections: "params", which are trained, and for ResNet18 "batch_stats" beside them."""


@functools.partial(jax.jit, static_argnums=0)
def init_module(module: nn.Module, key: jax.Array, *inputs: Any) -> Params:
    """Parameters of an untrained module, by one program: operation by operation each of them would
    be compiled on its own."""
    return module.init(key, *inputs)


PRECISIONS = {"float32": jnp.float32, "bfloat16": jnp.bfloat16}


@dataclass(frozen=True)
class NetworkConfig:
    """Which network; `width`, `blocks` and `stem` are for `compact` only."""

    name: str = "compact"  # compact, fc16, fc24 or resnet18; the last three are the paper's
    width: int = 256  # width of the skip blocks
    blocks: int = 4  # skip blocks of two layers each
    stem: int = 512  # width of the first layer
    diffuse: bool = True  # trick cards light three cells each (paper); False: one
    precision: str = "float32"  # precision of matrix products; bfloat16 pays on accelerators

    def __post_init__(self) -> None:
        if self.name not in NETWORKS:
            raise ConfigError(f"unknown network {self.name!r}; there are {', '.join(NETWORKS)}")
        check_choice("precision", self.precision, PRECISIONS)
        if min(self.width, self.blocks, self.stem) < 1:
            raise ConfigError("width, blocks and stem of a network must be at least 1")


@dataclass(frozen=True)
class Network:
    """A pair of pure functions: `init(key)`, `apply(params, features) -> (logits, value)`."""

    config: NetworkConfig
    module: nn.Module

    def init(self, key: jax.Array) -> Params:
        return init_module(self.module, key, jnp.zeros((1, NUM_FEATURES)))

    def apply(self, params: Params, features: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Playing: batch normalisation, where there is any, uses the running statistics."""
        return self.module.apply(params, self._inputs(features))  # ty: ignore[invalid-return-type]

    def rounded(self, params: Params) -> Params:
        """`params` as the products of `apply` take them. It makes no difference to call this once
        before a loop of calls; without it each of them rounds all weights again."""
        dtype = PRECISIONS[self.config.precision]

        def of_products(path: Any, leaf: jax.Array) -> jax.Array:
            names = [key.key for key in path]
            other = names[0] != "params" or any(n.startswith(("heads", "norm")) for n in names)
            return leaf if other else leaf.astype(dtype)

        return jax.tree_util.tree_map_with_path(of_products, params)

    def apply_train(self, params: Params, features: jax.Array):
        """Learning: ((logits, value), params with the new running statistics)."""
        mutable = [name for name in params if name != "params"]
        inputs = self._inputs(features)
        outputs, updated = self.module.apply(params, inputs, train=True, mutable=mutable)
        return outputs, {**params, **updated}

    def _inputs(self, features: jax.Array) -> jax.Array:
        return features if self.config.diffuse else undiffused(features)


def _skip_mlp(blocks: int) -> Callable[[NetworkConfig, str | None], nn.Module]:
    return lambda c, axis: SkipMLP((2048, 2048, 512), blocks, PRECISIONS[c.precision])


NETWORKS: dict[str, Callable[[NetworkConfig, str | None], nn.Module]] = {
    "compact": lambda c, axis: SkipMLP((c.stem, c.width), c.blocks, PRECISIONS[c.precision]),
    "fc16": _skip_mlp(blocks=6),
    "fc24": _skip_mlp(blocks=10),
    "resnet18": lambda c, axis: ResNet18(PRECISIONS[c.precision], axis),
}
"""Name -> the module of a configuration and of the mesh axis over which a minibatch is split."""


def make(name: str | NetworkConfig = "compact", axis: str | None = None, **options: Any) -> Network:
    """The network of that name; `options` as in `NetworkConfig`.

    `axis` names the mesh axis over which a minibatch is split while learning, so that batch
    normalisation takes the statistics of the whole.
    """
    if isinstance(name, NetworkConfig):
        return Network(name, NETWORKS[name.name](name, axis))
    known = {field.name for field in fields(NetworkConfig)} - {"name"}
    if unknown := sorted(set(options) - known):
        raise ConfigError(f"unknown network option {unknown[0]!r}; there are {sorted(known)}")
    return make(NetworkConfig(name, **options), axis)


def count_parameters(params: Params) -> int:
    """The number of trainable parameters."""
    return sum(leaf.size for leaf in jax.tree.leaves(params["params"]))
