"""Work that differs from row to row, done in full batches of one size."""

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp

Carry = TypeVar("Carry")
ChunkFn = Callable[[Carry, jax.Array, jax.Array, jax.Array], Carry]
"""(carry, row [chunk], number within the row [chunk], live bool [chunk]) -> carry"""


def loop(counts: jax.Array, chunk: int, body: ChunkFn, init: Carry) -> tuple[Carry, jax.Array]:
    """Calls `body` for the items (row, 0 .. counts[row] - 1) of all rows, `chunk` at a time.

    The last chunk is filled up with items that are not live; their row and number are in range.
    Returns the last carry and how many items went through the body, the idle ones included.
    """
    ends = jnp.cumsum(counts)
    total = ends[-1]
    chunks = -(-total // chunk)

    def run(index, carry):
        item = index * chunk + jnp.arange(chunk)
        live = item < total
        item = jnp.minimum(item, jnp.maximum(total - 1, 0))
        row = jnp.searchsorted(ends, item, side="right", method="scan_unrolled")
        number = item - (ends[row] - counts[row])
        return body(carry, row, number, live)

    return jax.lax.fori_loop(0, chunks, run, init), chunks * chunk
