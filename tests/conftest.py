"""One set-up for all tests: eight virtual devices, quick compilation, and a cache of it."""

import os
import platform
from pathlib import Path

import jax
import jaxlib

# Tests compile far more than they compute: less optimisation makes the whole run shorter.
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_backend_optimization_level=0"

# Compiled code depends on the compiler and the processor, so both name the cache.
_CACHE = Path(__file__).parent.parent / ".jax_cache" / f"{jaxlib.__version__}-{platform.machine()}"
jax.config.update("jax_compilation_cache_dir", os.environ.get("JAX_TEST_CACHE", str(_CACHE)))
jax.config.update("jax_num_cpu_devices", 8)

# Nothing is converted or broadcast by accident.
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")
