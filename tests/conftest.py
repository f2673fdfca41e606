"""One set-up for all tests: virtual devices, quick compilation and a cache of it, and the order."""

import gc
import os

import jax
import pytest

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
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
jax.config.update("jax_compilation_cache_dir", os.environ["JAX_COMPILATION_CACHE_DIR"])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)

# Every device runs every step of a program, so few of them make the whole run shorter. The slow
# tests start some of these again with eight.
jax.config.update("jax_num_cpu_devices", int(os.environ.get("TEST_DEVICES", "2")))

# Nothing is converted or broadcast by accident.
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

# Traced programs are millions of objects that live as long as the process. To look through all of
# them for garbage again and again takes a tenth of the run.
gc.set_threshold(50_000, 20, 100)


@pytest.fixture(scope="module", autouse=True)
def _what_is_there_stays() -> None:
    """Garbage is looked for among what the tests of one file have made."""
    gc.freeze()


LONGEST = (
    "arena/test_untrusted_clients",
    "arena/test_page",
    "experiments/test_train",
    "arena/test_matches",
    "experiments/test_thinking",
    "arena/test_page_meeting",
    "experiments/test_reproduce",
    "mixture_training/test_mixture_training",
    "players/test_greed",
    "search/test_search",
    "training/test_runs",
    "inference/test_decision",
    "experiments/test_train_belief",
    "arena/test_faults",
    "arena/test_people",
    "arena/test_operation",
    "training/test_epoch",
)
"""Files that take long, or mostly wait, come first: the others fill the time until they end. Those
that compile the same do not come at the same time."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    first = {f"tests/{name}.py": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: first.get(item.nodeid.partition("::")[0], len(first)))
