"""One set-up for all tests: virtual devices, quick compilation, and a cache of it."""

import os

import jax

from gongzhu_jax import runtime

# Tests compile far more than they compute: less optimisation makes the whole run shorter.
FLAGS = (
    "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false "
    "--xla_cpu_parallel_codegen_split_count=1"
)
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {FLAGS}"

# One cache for all checkouts of a user: a fresh clone does not compile everything again.
_CACHE = runtime.user_cache() / "tests"
# In the environment too, for the commands that tests start.
os.environ["JAX_COMPILATION_CACHE_DIR"] = os.environ.get("JAX_TEST_CACHE", str(_CACHE))
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0.2"
jax.config.update("jax_compilation_cache_dir", os.environ["JAX_COMPILATION_CACHE_DIR"])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)

# Every device runs every step of a program, so few of them make the whole run shorter. The slow
# tests start some of these again with eight.
jax.config.update("jax_num_cpu_devices", int(os.environ.get("TEST_DEVICES", "2")))

# Nothing is converted or broadcast by accident.
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")
