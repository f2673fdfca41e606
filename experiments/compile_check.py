"""Compiles the main programs for GPUs that need not be there, and estimates how fast they would be.

    python -m experiments.compile_check target=a100,h100 devices=1,8

Needs an environment with jax's CUDA packages, but no GPU and no driver: docs/gpu.md. For sizes that
suit CPUs and for those that suit GPUs the result says how much memory a program takes, how many
kernels are started in a turn of each of its loops, what is sent between devices, and an estimate of
the rates from kernel starts, bytes and floating-point operations. It is an estimate: nothing is
run. What was compiled before, and has not changed, is not compiled again.
"""

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jax.experimental import topologies
from jax.sharding import Mesh

from experiments.common import hlo
from experiments.common.cli import Result, experiment
from experiments.common.plots import plot_compile_check
from experiments.common.progress import note, progress
from experiments.common.results import Workplace
from experiments.common.settings import KeptSettings
from experiments.speed.gpu_programs import PROGRAMS, Work
from gongzhu_jax import runtime
from gongzhu_jax.device_profile import CPU, GPU, using
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.files import write_whole

SIZES = {"cpu": CPU, "gpu": GPU}

TARGETS = {
    "a100": (
        hlo.Device(2.039e12, {"f32": 156e12, "bf16": 312e12}),
        "core_count: 108 fpus_per_core: 64 memory_bandwidth: 2039040000000 l2_cache_size: 41943040 "
        "shared_memory_per_core: 167936 shared_memory_per_block_optin: 166912 clock_rate_ghz: 1.41 "
        "device_memory_size: 85100068864 cuda_compute_capability { major: 8 }",
    ),
    "h100": (
        hlo.Device(3.352e12, {"f32": 494e12, "bf16": 989e12}),
        "core_count: 132 fpus_per_core: 128 memory_bandwidth: 3352320000000 "
        "l2_cache_size: 52428800 shared_memory_per_core: 233472 "
        "shared_memory_per_block_optin: 232448 clock_rate_ghz: 1.98 "
        "device_memory_size: 84929347584 cuda_compute_capability { major: 9 }",
    ),
}
"""What each GPU can do, and the figures by which the compiler knows it. Float32 products are made
in TF32, jax's default on these GPUs."""

_OF_ALL = (
    "threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 "
    "threads_per_core_limit: 2048 block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 "
    "block_dim_limit_z: 65535 registers_per_core_limit: 65536 registers_per_block_limit: 65536 "
)
_TARGET = (
    "gpu_device_info {{ {} }} runtime_version: {{ major: 12 minor: 8 patch: 0 }} "
    'platform_name: "CUDA" dnn_version_info {{ major: 9 minor: 7 }} device_description_str: "{}"'
)


@dataclass(frozen=True, kw_only=True)
class CompileCheckSettings(KeptSettings):
    programs: list[str] = field(default_factory=list)
    target: list[str] = field(default_factory=list)
    devices: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        for values, known in ((self.programs, PROGRAMS), (self.target, TARGETS)):
            if unknown := sorted(set(values) - set(known)):
                raise ConfigError(f"unknown {unknown[0]!r}; there are {', '.join(known)}")
        if not self.devices or min(self.devices) < 1:
            raise ConfigError("devices must be numbers from 1 on")


def gpu_mesh(target: str, devices: int) -> Mesh:
    """GPUs of one machine that only the compiler knows."""
    text = _TARGET.format(_OF_ALL + TARGETS[target][1], target)
    try:
        topology = topologies.get_topology_desc(
            target, "cuda", target_config=text, topology=f"1x1x{devices}"
        )
    except RuntimeError as error:  # jax's own errors, and what is not implemented, are of this kind
        raise ConfigError(
            f"this environment cannot compile for GPUs: it needs jax[cuda12] and JAX_PLATFORMS=cpu "
            f"({str(error).splitlines()[0]})"
        ) from error
    return runtime.games_mesh(list(topology.devices))


def check(name: str, target: str, devices: int, sizes: str, kept: Path) -> dict[str, Any]:
    """Compiles one program, unless the very same was compiled before."""
    mesh = gpu_mesh(target, devices)
    with using(SIZES[sizes]):
        work = PROGRAMS[name](mesh, SIZES[sizes])
    digest = hashlib.sha256(work.lowered.as_text().encode() + target.encode()).hexdigest()[:20]
    text, memory = kept / f"{digest}.hlo", kept / f"{digest}.json"
    if not (text.is_file() and memory.is_file()):
        started = time.perf_counter()
        compiled = work.lowered.compile()
        stats = compiled.memory_analysis()
        sizes_of = {
            "state_mb": stats.argument_size_in_bytes / 1e6,
            "temporaries_mb": stats.temp_size_in_bytes / 1e6,
            "compile_seconds": round(time.perf_counter() - started),
        }
        write_whole(text, compiled.as_text().encode())
        write_whole(memory, json.dumps(sizes_of).encode())
    program = hlo.parse(text.read_text())
    row = {"program": name, "sizes": sizes, "target": target, "devices": devices, "what": work.what}
    return (
        row | json.loads(memory.read_text()) | figures(program, work, TARGETS[target][0], devices)
    )


def figures(program: hlo.Program, work: Work, device: hlo.Device, devices: int) -> dict[str, Any]:
    """What the text of a program says, and what follows from it."""
    loops: list[dict[str, Any]] = [
        {
            "depth": depth,
            "turns": loop.turns,
            "kernels": len(program.kernels(body)),
            "collectives": [i.opcode for i in program.collectives(body)],
        }
        for depth, loop, body in program.loops()
    ]
    unknown = sum(loop["turns"] is None for loop in loops)
    if unknown != len(work.turns):
        raise ConfigError(f"{work.what}: {unknown} loops with unknown turns, not {len(work.turns)}")
    started = program.seconds(hlo.COUNTING, list(work.turns))
    seconds = program.seconds(device, list(work.turns))
    return {
        "loops": loops,
        "kernels_per_1000_evaluations": 1000 * started / (work.evaluations / devices),
        "estimated_seconds": seconds,
        "estimated_evaluations_per_second": work.evaluations / seconds,
        "estimated_games_per_second": None if work.games is None else work.games / seconds,
    }


def as_lists(words: Sequence[str]) -> list[str]:
    """The arguments with the values of lists, written `key=a,b`, in the brackets that they need."""

    def bracketed(word: str) -> str:
        key, _, value = word.partition("=")
        is_list = key in ("programs", "target", "devices") and not value.startswith("[")
        return f"{key}=[{value}]" if is_list else word

    return [bracketed(word) for word in words]


def run(settings: CompileCheckSettings, work: Workplace) -> Result:
    kept = work.runs / "compile_check"
    kept.mkdir(parents=True, exist_ok=True)
    cells = [
        (program, target, devices, sizes)
        for program in settings.programs
        for target in settings.target
        for devices in settings.devices
        for sizes in SIZES
        if program == "epoch" or (target, devices) == (settings.target[0], min(settings.devices))
    ]
    rows = []
    with progress("programs") as advance:
        for number, cell in enumerate(cells):
            advance(number, len(cells))
            rows.append(check(*cell, kept))
            rate = rows[-1]["estimated_evaluations_per_second"]
            note(f"{' '.join(map(str, cell))}: {rate:.3g} evaluations/s (estimate)")
    return {"rows": rows}


main = experiment("compile_check", CompileCheckSettings, run, plot_compile_check, as_lists)

if __name__ == "__main__":
    raise SystemExit(main())
