"""The networks: sizes, the forward pass from its definition, image layout, running statistics."""

import functools
from collections.abc import Callable
from typing import Any

import chex
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax.errors import ConfigError
from gongzhu_jax.network import NUM_FEATURES, Network, NetworkConfig, count_parameters, make
from gongzhu_jax.network.policy_value import Conv, as_image
from gongzhu_jax.runtime import usual_promotion


def shapes_of(network: Network) -> Any:
    """The parameters as shapes; nothing is initialised."""
    return jax.eval_shape(network.init, jax.random.key(0))


def random_params(network: Network, seed: int) -> Any:
    """Parameters of ordinary size, biases and running statistics included.

    Drawn with numpy: large networks take seconds to initialise. Variances must be positive.
    """
    rng = np.random.default_rng(seed)

    def draw(leaf: Any) -> np.ndarray:
        if len(leaf.shape) < 2:
            return rng.uniform(0.5, 1.5, leaf.shape).astype(np.float32)
        fan_in = np.prod(leaf.shape[:-1])
        return (rng.standard_normal(leaf.shape) / np.sqrt(fan_in)).astype(np.float32)

    return jax.tree.map(draw, shapes_of(network))


def random_inputs(seed: int, rows: int) -> jax.Array:
    """Zeros and ones, about as many ones as in a game."""
    lit = np.random.default_rng(seed).random((rows, NUM_FEATURES)) < 0.15
    return jnp.asarray(lit, jnp.float32)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("fc16", 9_315_381), ("fc24", 11_416_629), ("resnet18", 11_199_093)],
)
def test_sizes_of_the_paper(name: str, parameters: int) -> None:
    assert count_parameters(shapes_of(make(name))) == parameters


@pytest.mark.parametrize(("name", "millions"), [("resnet18", 900), ("fc24", 23)])
def test_operations_of_a_position(name: str, millions: int) -> None:
    """As the page of results says."""
    network = make(name)
    inputs = jax.ShapeDtypeStruct((8, NUM_FEATURES), jnp.float32)
    cost: Any = jax.jit(network.apply).lower(shapes_of(network), inputs).cost_analysis()
    assert cost["flops"] / 8e6 == pytest.approx(millions, rel=0.01)


def test_size_of_the_default() -> None:
    assert make().config == NetworkConfig("compact")
    assert 500_000 < count_parameters(shapes_of(make())) < 2_000_000


def test_running_statistics_are_not_counted() -> None:
    shapes = shapes_of(make("resnet18"))
    every = sum(leaf.size for leaf in jax.tree.leaves(shapes))
    assert every > count_parameters(shapes)


# fully connected


def dense(layer: Any, x: np.ndarray) -> np.ndarray:
    return x @ np.asarray(layer["kernel"], float) + np.asarray(layer["bias"], float)


def skip_mlp(params: Any, x: np.ndarray, stem: int, blocks: int) -> tuple[np.ndarray, np.ndarray]:
    """The definition in float64: relu layers, then x + relu(W2 relu(W1 x)), then the heads."""
    for number in range(stem):
        x = np.maximum(dense(params[f"stem_{number}"], x), 0)
    for number in range(blocks):
        block = params[f"block_{number}"]
        x = x + np.maximum(dense(block["second"], np.maximum(dense(block["first"], x), 0)), 0)
    heads = dense(params["heads"]["policy_value"], x)
    return heads[:, :52], 10 * heads[:, 52]


def test_fc16_forward() -> None:
    network = make("fc16")
    params = random_params(network, 0)
    widths = [(434, 2048), (2048, 2048), (2048, 512)]
    assert [params["params"][f"stem_{i}"]["kernel"].shape for i in range(3)] == widths
    x = random_inputs(1, 3)
    logits, value = jax.jit(network.apply)(params, x)
    expected_logits, expected_value = skip_mlp(params["params"], np.asarray(x, float), 3, 6)
    assert logits.shape == (3, 52)
    assert value.shape == (3,)
    scale = np.abs(expected_logits).max()
    np.testing.assert_allclose(logits, expected_logits, rtol=1e-4, atol=1e-5 * scale)
    np.testing.assert_allclose(value, expected_value, rtol=1e-4, atol=1e-4 * scale)


def test_compact_options_set_the_layers() -> None:
    params = shapes_of(make("compact", stem=32, width=16, blocks=2))["params"]
    assert set(params) == {"stem_0", "stem_1", "block_0", "block_1", "heads"}
    assert params["stem_0"]["kernel"].shape == (434, 32)
    assert params["stem_1"]["kernel"].shape == (32, 16)
    assert params["block_1"]["second"]["kernel"].shape == (16, 16)
    assert params["heads"]["policy_value"]["kernel"].shape == (16, 53)


def test_leading_axes_are_free() -> None:
    network = make("compact", stem=32, width=16, blocks=1)
    params = random_params(network, 0)
    x = random_inputs(2, 6)
    logits, value = network.apply(params, x)
    cube_logits, cube_value = network.apply(params, x.reshape(2, 3, NUM_FEATURES))
    np.testing.assert_allclose(cube_logits.reshape(6, 52), logits, rtol=1e-6)
    np.testing.assert_allclose(cube_value.reshape(6), value, rtol=1e-6)


def test_bfloat16_is_close_and_answers_in_float32() -> None:
    exact, rounded = make("compact"), make("compact", precision="bfloat16")
    params = random_params(exact, 3)
    x = random_inputs(4, 16)
    outputs = jax.jit(rounded.apply)(params, x), jax.jit(exact.apply)(params, x)
    for output, expected in zip(*outputs, strict=True):
        assert output.dtype == np.float32
        error = np.linalg.norm(output - expected) / np.linalg.norm(expected)
        assert 0 < error < 0.05  # 11 layers that round to 8 bits


def test_weights_can_be_rounded_once_for_all_calls() -> None:
    network = make("compact", precision="bfloat16")
    params, x = random_params(network, 3), random_inputs(4, 16)
    once, apply = network.rounded(params), jax.jit(network.apply)
    assert once["params"]["stem_0"]["bias"].dtype == jnp.bfloat16
    jax.tree.map(np.testing.assert_array_equal, apply(once, x), apply(params, x))


def test_what_is_not_multiplied_is_not_rounded() -> None:
    network = make("resnet18", precision="bfloat16")
    with usual_promotion():  # flax's normalisation mixes types
        once = jax.eval_shape(lambda key: network.rounded(network.init(key)), jax.random.key(0))
    for path, leaf in jax.tree_util.tree_leaves_with_path(once):
        is_convolution = "conv" in jax.tree_util.keystr(path)
        assert leaf.dtype == (jnp.bfloat16 if is_convolution else jnp.float32)


# the residual network


def test_as_image() -> None:
    """868 of 1024 cells; the 156 others at the end, 78 at both sides, or at the start."""
    x = jnp.arange(1, 435, dtype=jnp.float32)
    cells = list(range(1, 435))
    image = np.asarray(as_image(x))
    assert image.shape == (32, 32, 3)
    end, sides, start = image.reshape(1024, 3).T
    np.testing.assert_array_equal(end, [*cells, *cells, *[0] * 156])
    np.testing.assert_array_equal(sides, [*[0] * 78, *cells, *cells, *[0] * 78])
    np.testing.assert_array_equal(start, [*[0] * 156, *cells, *cells])
    batch = as_image(jnp.stack([x, 2 * x]))
    np.testing.assert_array_equal(batch, np.stack([image, 2 * image]))


def first_convolution(image: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """5 x 5, one cell of zeros around the image, no bias: 32 x 32 becomes 30 x 30."""
    padded = np.pad(image.astype(float), [(0, 0), (1, 1), (1, 1), (0, 0)])
    return sum(
        padded[:, row : row + 30, column : column + 30] @ kernel[row, column].astype(float)
        for row in range(5)
        for column in range(5)
    )


@pytest.mark.parametrize(
    ("size", "stride", "padding", "side"), [(5, 1, 1, 8), (3, 1, 1, 7), (3, 2, 1, 8), (1, 2, 0, 7)]
)
def test_convolutions_are_those_of_flax(size: int, stride: int, padding: int, side: int) -> None:
    """In play and in learning, from the same seed, with the same gradients."""
    ours = Conv(6, size, stride, padding, jnp.float32)
    theirs = nn.Conv(6, (size, size), stride, padding, use_bias=False)
    images = jax.random.normal(jax.random.key(0), (2, 3, side, side, 4))
    params = theirs.init(jax.random.key(1), images)
    chex.assert_trees_all_equal(ours.init(jax.random.key(1), images, True), params)
    wanted, back = jax.vjp(theirs.apply, params, images)
    change = jax.random.normal(jax.random.key(2), np.shape(wanted))
    for train in (False, True):
        found, own_back = jax.vjp(lambda p, x, t=train: ours.apply(p, x, t), params, images)
        chex.assert_trees_all_close(
            (found, own_back(change)), (wanted, back(change)), rtol=1e-4, atol=1e-4
        )


@pytest.fixture(scope="module")
def resnet() -> tuple[Any, Callable, Callable]:
    network = make("resnet18")
    return random_params(network, 5), jax.jit(network.apply), jax.jit(network.apply_train)


def test_resnet18_learns_its_running_statistics(resnet: tuple[Any, Callable, Callable]) -> None:
    """Momentum 0.9: a tenth of the minibatch's mean and variance, checked at the first layer."""
    params, _, apply_train = resnet
    x = random_inputs(6, 2)
    _, updated = apply_train(params, x)
    hidden = first_convolution(np.asarray(as_image(x)), params["params"]["conv"]["kernel"])
    old, new = params["batch_stats"]["norm"], updated["batch_stats"]["norm"]
    mean = 0.9 * old["mean"] + 0.1 * hidden.mean((0, 1, 2))
    var = 0.9 * old["var"] + 0.1 * hidden.var((0, 1, 2))
    np.testing.assert_allclose(new["mean"], mean, rtol=1e-4)
    np.testing.assert_allclose(new["var"], var, rtol=1e-4)
    # Every layer has its own; learning them trains nothing.
    changed = jax.tree.map(
        lambda a, b: bool(np.any(a != b)), params["batch_stats"], updated["batch_stats"]
    )
    assert all(jax.tree.leaves(changed))
    jax.tree.map(np.testing.assert_array_equal, params["params"], updated["params"])


def test_resnet18_plays_by_its_running_statistics(resnet: tuple[Any, Callable, Callable]) -> None:
    """At play time a position's value does not depend on what else is in the batch."""
    params, apply, apply_train = resnet
    x = random_inputs(7, 2)
    other = jnp.stack([x[0], 1 - x[1]])
    logits, value = apply(params, x)
    logits_beside_other, value_beside_other = apply(params, other)
    np.testing.assert_allclose(logits_beside_other[0], logits[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(value_beside_other[0], value[0], rtol=1e-4)
    # In learning it does, and it is other statistics that then play.
    (_, learning), updated = apply_train(params, x)
    (_, learning_beside_other), _ = apply_train(params, other)
    assert abs(learning_beside_other[0] - learning[0]) > 1e-2 * abs(learning[0])
    _, later = apply(updated, x)
    assert abs(later[0] - value[0]) > 1e-3 * abs(value[0])


# settings


@pytest.mark.parametrize(
    ("build", "listed"),
    [
        (functools.partial(make, "fc17"), ["fc17", "compact", "fc16", "fc24", "resnet18"]),
        (functools.partial(make, precision="float16"), ["float16", "float32", "bfloat16"]),
        (functools.partial(make, depth=3), ["depth", "blocks", "precision", "stem", "width"]),
        (functools.partial(NetworkConfig, "mlp"), ["mlp", "compact", "fc16", "fc24", "resnet18"]),
        (functools.partial(make, width=0), ["width", "blocks", "stem"]),
    ],
)
def test_bad_settings_name_the_good_ones(build: Callable[[], Any], listed: list[str]) -> None:
    with pytest.raises(ConfigError) as error:
        build()
    assert all(word in str(error.value) for word in listed)
