"""The text of compiled programs is read rightly; programs compile for GPUs that are not there."""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from experiments import compile_check
from experiments.common import hlo

TEXT = """HloModule example

%fused (p0: f32[64,8], p1: s32[]) -> f32[1,8] {
  %p0 = f32[64,8]{1,0} parameter(0)
  %p1 = s32[] parameter(1)
  %zero = s32[] constant(0)
  ROOT %row = f32[1,8]{1,0} dynamic-slice(%p0, %p1, %zero), dynamic_slice_sizes={1,8}
}

%body (state: (s32[], f32[64,8], f32[1,8])) -> (s32[], f32[64,8], f32[1,8]) {
  %state = (s32[], f32[64,8]{1,0}, f32[1,8]{1,0}) parameter(0)
  %n = s32[] get-tuple-element(%state), index=0
  %x = f32[64,8]{1,0} get-tuple-element(%state), index=1
  %taken = f32[1,8]{1,0} fusion(%x, %n), kind=kLoop, calls=%fused
  %sent = f32[1,8]{1,0} all-reduce-start(%taken), to_apply=%add
  %summed = f32[1,8]{1,0} all-reduce-done(%sent)
  ROOT %after = (s32[], f32[64,8]{1,0}, f32[1,8]{1,0}) tuple(%n, %x, %summed)
}

%test (state: (s32[], f32[64,8], f32[1,8])) -> pred[] {
  %state.1 = (s32[], f32[64,8]{1,0}, f32[1,8]{1,0}) parameter(0)
  %n.1 = s32[] get-tuple-element(%state.1), index=0
  ROOT %less = pred[] compare(%n.1, %n.1), direction=LT
}

ENTRY %main (start: (s32[], f32[64,8], f32[1,8])) -> (s32[], f32[64,8], f32[1,8]) {
  %start = (s32[], f32[64,8]{1,0}, f32[1,8]{1,0}) parameter(0)
  ROOT %loop = (s32[], f32[64,8]{1,0}, f32[1,8]{1,0}) while(%start), body=%body, condition=%test
}
"""


def test_loops_kernels_and_messages() -> None:
    program = hlo.parse(TEXT)
    ((depth, loop, body),) = program.loops()
    assert (depth, loop.turns, body) == (0, None, "body")
    taken, sent = program.kernels(body)
    assert program.collectives(body) == [sent]
    assert program.moved(taken) == 4 * (8 + 8 + 1)  # the row that is read, not all rows
    device = hlo.Device(1e12, {"f32": 1e12}, start=2.0, turn=5.0, message=7.0)
    # In a turn a kernel, a message, the kernel of the condition, and the wait for it.
    assert program.seconds(device, [10.0]) == 10 * (2 + 7 + 2 + 5)
    assert program.seconds(hlo.COUNTING, [10.0]) == 10 * 3


def test_products_of_a_compiled_loop() -> None:
    def run(x, w):
        return jax.lax.fori_loop(0, 7, lambda _, x: jnp.tanh(x @ w), x)

    compiled = jax.jit(run).lower(jnp.zeros((8, 16)), jnp.zeros((16, 16))).compile()
    program = hlo.parse(compiled.as_text() or "")
    ((_, loop, body),) = program.loops()
    assert loop.turns == 7
    products = [program.product_flops(kernel)[0] for kernel in program.kernels(body)]
    assert sum(products) == 2 * 8 * 16 * 16


@pytest.mark.slow
def test_compiles_for_a_gpu(tmp_path: Path) -> None:
    pytest.importorskip("jax_cuda12_plugin", reason="needs the environment of docs/gpu.md")
    output = tmp_path / "check.json"
    line = ["programs=belief", "target=a100,h100", "devices=1", f"output={output}"]
    assert compile_check.main(line) == 0
    rows = json.loads(output.read_text())["result"]["rows"]
    assert {row["target"] for row in rows} == {"a100"}
    assert all(row["estimated_evaluations_per_second"] > 1e4 for row in rows)
