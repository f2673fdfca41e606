"""Calls to the host: arguments arrive whole, in pieces that are small."""

import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax.players.host_calls import PIECE, call_host

NUMBERS = jax.ShapeDtypeStruct((3,), jnp.int32)


def total(first: np.ndarray, rest: dict[str, np.ndarray]) -> np.ndarray:
    assert all(isinstance(array, np.ndarray) for array in (first, *rest.values()))
    return first.sum(axis=(1, 2)).astype(np.int32) + rest["x"] + rest["one"]


def test_large_arguments() -> None:
    """One number is off by one for each element that is lost, doubled or moved to another row."""
    first = np.arange(3 * 700 * 52, dtype=np.int32).reshape(3, 700, 52) % 5
    rest = {"x": np.array([1, 2, 3], np.int32), "one": np.array(1, np.int32)}

    def program(first, rest):
        return call_host(total, NUMBERS, first, rest)

    np.testing.assert_array_equal(jax.jit(program)(first, rest), total(first, rest))
    (call,) = [
        equation
        for equation in jax.make_jaxpr(program)(first, rest).eqns
        if equation.primitive.name == "io_callback"
    ]
    sizes = [value.aval.size * value.aval.dtype.itemsize for value in call.invars]
    assert len(sizes) == 7 + 2
    assert max(sizes) <= PIECE


def test_called_only_where_the_program_comes_to() -> None:
    """Also where a loop that is not entered has the same arguments in every round."""
    calls = []

    def note(x: np.ndarray) -> np.ndarray:
        calls.append(int(x))
        return x

    @jax.jit
    def program(rounds, x):
        one = jax.ShapeDtypeStruct((), jnp.int32)
        return jax.lax.fori_loop(0, rounds, lambda i, y: y + call_host(note, one, x), jnp.int32(0))

    assert int(program(0, 5)) == 0
    jax.effects_barrier()
    assert calls == []
    assert int(program(3, 5)) == 15
    assert calls == [5, 5, 5]
