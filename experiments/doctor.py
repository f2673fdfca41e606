"""Is everything here to run the experiments? `python -m experiments.doctor`

Checks Python, packages and versions, devices and memory, that programs compile and give right
numbers, and how fast network and search are; says what is wrong in plain words. Exit code 0 if
nothing is, 1 else.
"""

import importlib.metadata
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

REQUIRED = ("jax", "jaxlib", "flax", "optax", "mctx", "chex", "numpy", "orbax-checkpoint")
NEEDED_MEMORY = 4e9
NEEDED_DISK = 1e9


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report."""

    what: str
    said: str
    fine: bool = True
    advice: str = ""


def packages() -> Iterator[Finding]:
    """Python and the packages that everything needs."""
    version = platform.python_version()
    fine = sys.version_info >= (3, 11)
    yield Finding("Python", version, fine, "Python 3.11 or newer is needed")
    for name in REQUIRED:
        try:
            yield Finding(name, importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            yield Finding(name, "missing", False, "install with `make test` or pip install -e .")


def room() -> Iterator[Finding]:
    """Memory and disk."""
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        advice = "evaluations need some 2 GB: use smaller batch= and chunk="
        yield Finding("memory", f"{memory / 1e9:.1f} GB", memory >= NEEDED_MEMORY, advice)
    free = shutil.disk_usage(".").free
    advice = "checkpoints and results need room"
    yield Finding("disk here", f"{free / 1e9:.1f} GB free", free >= NEEDED_DISK, advice)


def devices() -> Iterator[Finding]:
    """What jax computes on, and whether a GPU is left unused."""
    import jax

    available = jax.devices()
    models = ", ".join(sorted({device.device_kind for device in available}))
    backend = jax.default_backend()
    yield Finding("devices", f"{len(available)} x {models} ({backend})")
    has_gpu = shutil.which("nvidia-smi") is not None
    if has_gpu:
        advice = 'there is an NVIDIA driver but jax does not use it: pip install -e ".[cuda13]"'
        yield Finding("GPU", "in use" if backend == "gpu" else "not used", backend == "gpu", advice)
    for device in available:
        limit = (device.memory_stats() or {}).get("bytes_limit")
        if limit:
            yield Finding(f"memory of {device}", f"{limit / 1e9:.1f} GB")


def numbers() -> Iterator[Finding]:
    """A game that was recorded, and a product of matrices, come out as they must."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    from gongzhu_jax import game

    advice = "this is a fault of the installation of jax: reinstall it, or try JAX_PLATFORMS=cpu"
    state = game.from_owners(jnp.arange(52, dtype=jnp.int8) // 13, 0)  # each seat one suit
    for round_ in range(13):
        for seat in range(4):
            state = jax.jit(game.step)(state, jnp.int8(13 * seat + round_))
    # Seat 0 leads spades to the end and takes everything: all hearts, pig, sheep, transformer.
    points = np.asarray(game.scores(state)).tolist()
    yield Finding("rules", f"points {points}", points == [400, 0, 0, 0], advice)
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 64, 64)).astype(np.float32)
    error = float(np.max(np.abs(np.asarray(jax.jit(jnp.matmul)(a, b)) - a @ b)))
    # Accelerators may multiply in less than float32.
    yield Finding("matrix product", f"off by {error:.1e}", error < 0.1, advice)


def weights() -> Iterator[Finding]:
    """The network that players load by default."""
    from gongzhu_jax.errors import GongzhuError
    from gongzhu_jax.network.weights import about_weights, load_weights

    try:
        config, _ = load_weights()
        games = about_weights()["games"]
        yield Finding("shipped weights", f"{config.name}, {games} games of training")
    except GongzhuError as error:
        yield Finding("shipped weights", str(error), False, "install the package again")


def programs() -> Iterator[Finding]:
    """Compiled programs that are kept, so that later starts are quick."""
    from gongzhu_jax import runtime

    runtime.use_compilation_cache()
    folder = runtime.compilation_cache()
    if folder is None:
        yield Finding("compiled programs", "not kept: every start compiles everything again")
    else:
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        yield Finding("compiled programs", f"{size / 1e6:.0f} MB in {folder}")


def speed() -> Iterator[Finding]:
    """Rates on these devices; there is no right or wrong."""
    from experiments.speed import search

    row = search.run(networks=("compact",), roots=512, rounds=1, seconds=0.5)["rows"][-1]
    yield Finding("network", f"{row['network_per_second']:,.0f} evaluations/s (compact)")
    said = f"{row['simulations_per_second']:,.0f} simulations/s, {row['share']:.0%} of that"
    yield Finding("search", said)


CHECKS = (packages, room, devices, numbers, weights, programs, speed)


def main(arguments: Sequence[str] | None = None) -> int:
    if sys.argv[1:] if arguments is None else arguments:
        print("error: the doctor takes no settings", file=sys.stderr)
        return 2
    from gongzhu_jax import runtime

    runtime.use_cpu_cores()
    wrong = 0
    for check in CHECKS:
        try:
            findings = list(check())
        except Exception as error:  # whatever it is, the other checks go on
            message = (str(error) or repr(error)).splitlines()[0]
            findings = [Finding(check.__name__, message, False, "see above")]
        for finding in findings:
            mark = "ok  " if finding.fine else "BAD "
            advice = "" if finding.fine else f": {finding.advice}"
            print(f"{mark} {finding.what:<20} {finding.said}{advice}", flush=True)
            wrong += not finding.fine
    print("all is well" if not wrong else f"{wrong} thing(s) to look at")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
