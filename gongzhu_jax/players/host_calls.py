"""Calls from compiled programs back to the host that cannot lock each other out."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.experimental import io_callback

PIECE = 64 * 1024
"""Bytes of an argument that are handed over at once.

On CPUs jax copies larger arrays on threads of its own, and with a call on every device all of these
threads wait in calls: for ever. Small arrays are copied at once (below 100 KiB in jax 0.10).
"""


def call_host(function: Callable[..., Any], result: jax.ShapeDtypeStruct, *arguments: Any) -> Any:
    """`function` of the arguments, trees of arrays, which it gets as arrays of numpy.

    It is called when the program comes to this place, as often as it does, and must not compute
    anything with jax.
    """
    leaves, tree = jax.tree.flatten(arguments)
    shapes = [leaf.shape for leaf in leaves]

    def on_host(pieces: list[list[Any]]) -> Any:
        flat = [np.concatenate([np.asarray(piece) for piece in parts]) for parts in pieces]
        whole = [array.reshape(shape) for array, shape in zip(flat, shapes, strict=True)]
        return function(*jax.tree.unflatten(tree, whole))

    # Not `pure_callback`: compilers move that out of loops, to where it would not be called.
    return io_callback(on_host, result, [_pieces(leaf) for leaf in leaves])


def _pieces(array: jax.Array) -> list[jax.Array]:
    flat = array.reshape(-1)
    size = PIECE // flat.dtype.itemsize
    return [flat[start : start + size] for start in range(0, max(flat.size, 1), size)]
