"""One set-up for all tests: a compilation cache and eight virtual devices."""

import os
import platform
from pathlib import Path

import jax
import jaxlib

# Compiled code depends on the compiler and the processor, so both name the cache.
_CACHE = Path(__file__).parent.parent / ".jax_cache" / f"{jaxlib.__version__}-{platform.machine()}"
jax.config.update("jax_compilation_cache_dir", os.environ.get("JAX_TEST_CACHE", str(_CACHE)))
jax.config.update("jax_num_cpu_devices", 8)
