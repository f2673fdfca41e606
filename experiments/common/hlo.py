"""Reads the text of a compiled program (HLO): its loops, the kernels in each, and their cost.

A kernel is an instruction that an accelerator starts by itself: a fusion, a product, a copy, a
message to other devices. What a kernel moves and computes is counted from the shapes in the text.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

_HEADER = re.compile(r"^(ENTRY )?%?([\w.\-]+) \(.*\{$")
_INSTRUCTION = re.compile(
    r"^\s+(?:ROOT )?%(?P<name>[\w.\-]+) = "
    r"(?P<type>\((?:[^()]|\([^()]*\))*\)|\S+) (?P<opcode>[\w\-]+)"
    r"\((?P<operands>[^)]*)\)(?P<rest>.*)"
)
_ARRAY = re.compile(r"\b(pred|bf16|[sufc]\d+\w*)\[([\d,]*)\]")
_NO_KERNEL = {
    *("parameter", "get-tuple-element", "tuple", "constant", "bitcast", "while", "conditional"),
    *("call", "partition-id", "replica-id", "after-all", "opt-barrier"),
}
COLLECTIVES = (
    *("all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute"),
    *("collective-broadcast", "send", "recv"),
)


def _bytes(text: str) -> int:
    """The size of all arrays of a type."""
    return sum(_items(dims) * _width(dtype) for dtype, dims in _ARRAY.findall(text))


def _items(dims: str) -> int:
    return math.prod(int(n) for n in dims.split(",") if n)


def _width(dtype: str) -> int:
    digits = re.search(r"\d+", dtype)
    return 1 if digits is None else max(1, int(digits.group()) // 8)


@dataclass(frozen=True)
class Instruction:
    """One line of a computation."""

    name: str
    type: str
    opcode: str
    operands: tuple[str, ...]
    rest: str

    def called(self, *attributes: str) -> list[str]:
        """The computations that these attributes name."""
        names = []
        for attribute in attributes:
            for listed in re.findall(rf"\b{attribute}=(\{{[^}}]*\}}|%[\w.\-]+)", self.rest):
                names += re.findall(r"%([\w.\-]+)", listed)
        return names

    @property
    def is_kernel(self) -> bool:
        return self.opcode not in _NO_KERNEL and not self.opcode.endswith(("-done", "-update"))

    @property
    def is_collective(self) -> bool:
        return self.opcode.removesuffix("-start") in COLLECTIVES

    @property
    def turns(self) -> int | None:
        """How often a loop runs, if that is known before it does."""
        count = re.search(r'"known_trip_count":\{"n":"(\d+)"', self.rest)
        return None if count is None else int(count.group(1))


@dataclass(frozen=True)
class Device:
    """What an accelerator can do. Its figures make estimates, not measurements."""

    bandwidth: float  # bytes per second
    flops: Mapping[str, float]  # of products per second, by the type of their inputs
    start: float = 3.5e-6  # seconds from the start of one kernel to that of the next
    turn: float = 15e-6  # seconds for the host to see whether a loop goes on
    share_of_peak: float = 0.4  # that products of our widths reach
    message: float = 15e-6  # seconds for a small sum over the devices of one machine


COUNTING = Device(math.inf, {"f32": math.inf}, start=1.0, turn=0.0, message=1.0)
"""The "time" of a program on this device is the number of kernels that it starts."""


@dataclass(frozen=True)
class Program:
    """The computations of a compiled program."""

    computations: Mapping[str, list[Instruction]] = field(repr=False)
    entry: str

    def kernels(self, computation: str) -> list[Instruction]:
        """What is started once in every turn of this computation, loops inside left out."""
        return [i for i in self._flat(computation) if i.is_kernel]

    def collectives(self, computation: str) -> list[Instruction]:
        return [i for i in self._flat(computation) if i.is_collective]

    def _flat(self, computation: str) -> Iterator[Instruction]:
        for instruction in self.computations[computation]:
            yield instruction
            branches = instruction.called("branch_computations", "true_computation")
            if instruction.opcode == "call":
                yield from self._flat(*instruction.called("to_apply"))
            elif branches:  # the longest of them
                yield from max((list(self._flat(b)) for b in branches), key=len)

    def loops(self, computation: str | None = None, depth: int = 0):
        """(depth, loop, its body) for every loop, each before those inside it."""
        for instruction in self._flat(computation or self.entry):
            if instruction.opcode == "while":
                (body,) = instruction.called("body")
                yield depth, instruction, body
                yield from self.loops(body, depth + 1)

    def seconds(self, device: Device, turns: list[float], computation: str | None = None) -> float:
        """An estimate of the time of a computation.

        Args:
          turns: how often the loops run that do not say so, in the order of `loops`; used up.
        """
        total = 0.0
        for instruction in list(self._flat(computation or self.entry)):
            if instruction.is_kernel:
                total += self._kernel_seconds(instruction, device)
            if instruction.opcode == "while":
                known = instruction.turns
                count, wait = (turns.pop(0), device.turn) if known is None else (known, 0.0)
                (body,), (condition,) = instruction.called("body"), instruction.called("condition")
                once = self.seconds(device, turns, body)
                once += device.start * len(self.kernels(condition)) + wait
                total += count * once
        return total

    def _kernel_seconds(self, kernel: Instruction, device: Device) -> float:
        latency = device.message if kernel.is_collective else device.start
        flops, dtype = self.product_flops(kernel)
        peak = device.share_of_peak * device.flops.get(dtype, device.flops["f32"])
        return max(latency, self.moved(kernel) / device.bandwidth, flops / peak)

    @cached_property
    def _types(self) -> dict[str, str]:
        return {i.name: i.type for all_of in self.computations.values() for i in all_of}

    def moved(self, kernel: Instruction) -> int:
        """Bytes that a kernel reads and writes: of arrays that it only takes rows from, or puts
        rows into, as much as those rows."""
        total = _bytes(kernel.type)
        inside = [i for name in kernel.called("calls") for i in self.computations[name]]
        numbered = {
            i.name: int(i.operands[0]) for i in inside if i.opcode == "parameter" and i.operands
        }
        rows: dict[int, int] = {}
        for i in inside:
            if i.opcode in ("gather", "dynamic-slice", "dynamic-update-slice", "scatter"):
                number = numbered.get(i.operands[0])
                updates = i.opcode in ("dynamic-update-slice", "scatter")
                part = _bytes(self._types[i.operands[-1 if i.opcode == "scatter" else 1]])
                if number is not None:
                    rows[number] = part if updates else _bytes(i.type)
                    total -= (_bytes(i.type) - part) if updates else 0
        for number, name in enumerate(kernel.operands):
            total += rows.get(number, _bytes(self._types.get(name, "")))
        return max(total, 0)

    def product_flops(self, kernel: Instruction) -> tuple[int, str]:
        """Floating-point operations of the matrix products of a kernel, and their input type."""
        inside = [i for name in kernel.called("calls") for i in self.computations[name]]
        total, dtype = 0, ""
        for i in (kernel, *inside):
            dims = re.search(r'lhs_contracting_dim(?:s=|ension)[^\d]*([\d",]+)', i.rest)
            if i.opcode not in ("dot", "custom-call") or dims is None:
                continue
            arrays = _ARRAY.findall(self._types.get(i.operands[0], ""))
            if arrays:
                dtype, shape = arrays[0]
                sizes = shape.split(",")
                depth = math.prod(int(sizes[int(d)]) for d in re.findall(r"\d+", dims.group(1)))
                total += 2 * depth * _items(_ARRAY.findall(i.type)[0][1])
        return total, dtype


def parse(text: str) -> Program:
    """The program of `compiled.as_text()`."""
    computations: dict[str, list[Instruction]] = {}
    entry, lines = "", []
    for line in text.splitlines():
        header, instruction = _HEADER.match(line), _INSTRUCTION.match(line)
        if header:
            lines = computations.setdefault(header.group(2), [])
            entry = header.group(2) if header.group(1) else entry
        elif instruction:
            operands = re.sub(r"/\*.*?\*/", "", instruction["operands"]).split(",")
            names = tuple(word.split("%")[-1].strip() for word in operands if word.strip())
            parts: dict[str, Any] = {**instruction.groupdict(), "operands": names}
            lines.append(Instruction(**parts))
    return Program(computations, entry)
