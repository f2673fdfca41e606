"""Some of many weighed deals: so many, none twice, and true on average."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax.inference.scenarios import resample, threshold


def weights(seed: int, size: int, spread: float) -> jax.Array:
    weight = np.exp(spread * np.random.default_rng(seed).normal(size=size))
    return jnp.asarray(weight / weight.sum(), jnp.float32)


@pytest.mark.parametrize(("count", "spread"), [(1, 1.0), (4, 0.0), (4, 4.0), (15, 1.0), (16, 1.0)])
def test_threshold_keeps_as_many_as_asked(count: int, spread: float) -> None:
    weight = weights(0, 16, spread)
    least = float(threshold(weight, count))
    if count == 16:
        assert least == 0
    else:
        assert np.minimum(weight / least, 1).sum() == pytest.approx(count, rel=1e-4)


@pytest.mark.parametrize("spread", [0.0, 1.0, 4.0])
def test_true_on_average_and_none_twice(spread: float) -> None:
    weight = weights(1, 16, spread)
    keys = jax.random.split(jax.random.key(0), 4000)
    place, new = jax.jit(jax.vmap(lambda key: resample(key, weight, 5)))(keys)
    place, new = np.asarray(place), np.asarray(new)
    assert all(len(set(row)) == 5 for row in place.tolist())
    np.testing.assert_allclose(new.sum(axis=1), 1, rtol=1e-5)
    seen = np.zeros((len(keys), 16))
    np.put_along_axis(seen, place, new, axis=1)
    error = seen.std(axis=0) / np.sqrt(len(keys))
    assert np.all(np.abs(seen.mean(axis=0) - weight) < 5 * error + 1e-6)
    # The largest is always there if it is above the threshold.
    if weight.max() > float(threshold(weight, 5)) * 1.001:
        assert np.all(seen[:, weight.argmax()] > 0)


def test_fewer_than_asked() -> None:
    weight = jnp.array([0, 0.25, 0, 0.75, 0, 0])
    place, new = resample(jax.random.key(3), weight, 4)
    assert sorted(zip(np.asarray(new).tolist(), np.asarray(place).tolist(), strict=True))[2:] == [
        (0.25, 1),
        (0.75, 3),
    ]
    assert np.count_nonzero(new) == 2


def test_nothing_at_all() -> None:
    _, new = resample(jax.random.key(0), jnp.zeros(5), 2)
    assert not np.any(new)
