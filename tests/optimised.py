"""For the few programs that compute for longer in tests than they compile."""

from typing import Any

OPTIMISED = {"xla_backend_optimization_level": 1}
"""Options of the compiler, for `jax.jit`."""


def call_optimised(jitted: Any, *arguments: Any) -> Any:
    """Calls a function that the library has jitted."""
    return jitted.lower(*arguments).compile(OPTIMISED)(*arguments)
