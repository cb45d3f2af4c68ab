"""How long a kernel would take on a GPU that is not there, by the cost model.

prediction = kernel.predict(a, b, arch="sm_90a")
prediction.milliseconds, prediction.machine, prediction.limited_by
print(prediction)                                     # with the critical cycle

A few blocks run on the virtual GPU, alone and without checks; the cost model
(report/cost_model.py) plays their events on one multiprocessor. The rest is arithmetic: how many
blocks a multiprocessor holds, in which order the blocks of the grid come, what of their memory
traffic the L2 keeps, and how far the clock sinks under the load.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tilewright.report.cost_model import Memory, Model, Node, critical_cycle
from tilewright.report.machines import LAUNCH_MICROSECONDS, MACHINES, Machine, occupancy
from tilewright.support.errors import LanguageError, shorten

__tracebackhide__ = True  # pytest shows the user's frames

#: Grids with more blocks than this are scheduled in waves of their mean.
_MOST_BLOCKS = 200_000


@dataclass(frozen=True)
class LaunchPrediction:
    """What the model says of one launch."""

    name: str
    microseconds: float
    cycles: float  # of one block, with those it shares its multiprocessor with
    gigahertz: float  # under the load
    grid: list[int]
    resident: int  # blocks of a multiprocessor
    waves: float
    tensor_use: float  # the part of the time in which a block keeps the tensor cores busy
    main_bytes: float  # of main memory, all blocks
    cache_bytes: float  # of the L2, all blocks
    operations: float  # of the tensor cores, all blocks
    limited_by: str
    cycle: dict[str, Any] = field(default_factory=dict)  # the critical cycle

    @property
    def teraflops(self) -> float:
        """Of the tensor cores."""
        return self.operations / self.microseconds / 1e6 if self.microseconds else 0.0


@dataclass(frozen=True)
class Prediction:
    """What the model says of a call: a prediction, not a measurement."""

    kernel: str
    arch: str
    machine: str
    milliseconds: float
    launches: list[LaunchPrediction]

    @property
    def limited_by(self) -> str:
        """What limits the longest launch."""
        return max(self.launches, key=lambda launch: launch.microseconds).limited_by

    def __str__(self) -> str:
        lines = [
            f"'{self.kernel}': {self.milliseconds:.4g} ms predicted for {self.machine} "
            f"({self.arch}); a model, not a measurement"
        ]
        for launch in self.launches:
            lines.append("  " + describe(launch))
        return "\n".join(lines)


class PredictedTime(float):
    """Milliseconds that the model predicts; `prediction` says how they come about."""

    prediction: Prediction

    @staticmethod
    def of(prediction: Prediction) -> PredictedTime:
        """The time of a prediction."""
        time = PredictedTime(prediction.milliseconds)
        time.prediction = prediction
        return time

    def __repr__(self) -> str:
        return f"{float(self):.6g} (predicted for {self.prediction.machine})"

    __str__ = __repr__

    def __reduce__(self) -> tuple[Any, ...]:
        return (PredictedTime.of, (self.prediction,))


def describe(launch: LaunchPrediction) -> str:
    """One line: the time of a launch and what an iteration waits for."""
    blocks = "1 block" if launch.resident == 1 else f"{launch.resident} blocks"
    text = (
        f"'{launch.name}': {launch.microseconds:.4g} us, {launch.waves:.2g} waves of {blocks} a "
        f"multiprocessor, limited by {launch.limited_by}"
    )
    if launch.operations:
        text += f", {launch.teraflops:.4g} TFLOPS"
    steps = launch.cycle.get("steps")
    if steps:
        shown = ", ".join(f"{name} {cycles:.0f}" for name, cycles in steps if cycles >= 1)
        text += f"; critical cycle of {launch.cycle['cycles']:.0f} cycles: {shown}"
    return text


def predict(
    kernel: Any,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    arch: str | None = None,
    sizes: Mapping[str, int] | None = None,
) -> Prediction:
    """The prediction for a call with these arguments, or with made-up ones."""
    from tilewright.runtime.made_up import make_inputs
    from tilewright.runtime.verify import _allocate

    if not args and not kwargs and len(kernel.params) > len(kernel.out_idx):
        values, _ = make_inputs(kernel.params, kernel.out_idx, sizes)
    else:
        values = kernel._arrange(args, dict(kwargs or {}))
    return predict_call(kernel, _allocate(kernel, list(values)), arch)


def predict_call(kernel: Any, values: list[Any], arch: str | None = None) -> Prediction:
    """The same for arguments in parameter order, outputs included; they are not changed."""
    arch = arch or kernel.placement.arch
    machine = find_machine(arch)
    sampler = Sampler(kernel, values, arch)
    launches = [predict_launch(sampler, number, machine) for number in range(len(sampler.first))]
    total = sum(launch.microseconds for launch in launches)
    return Prediction(kernel.name, arch, machine.name, total / 1e3, launches)


def find_machine(arch: str) -> Machine:
    """The GPU that stands for an architecture."""
    machine = MACHINES.get(arch)
    if machine is None:
        raise LanguageError(f"unknown architecture '{arch}'", hint=f"use {', '.join(MACHINES)}")
    return machine


class Sampler:
    """Runs single blocks of a call on the virtual GPU and keeps what they did."""

    def __init__(self, kernel: Any, values: list[Any], arch: str) -> None:
        from tilewright.runtime.arguments import convert_argument
        from tilewright.runtime.packing import with_strides_of
        from tilewright.runtime.verify import to_numpy

        self.kernel, self.arch = kernel, arch
        copies: dict[int, Any] = {}
        arrays = [copies.setdefault(id(value), to_numpy(value)) for value in values]
        self._arrays = arrays  # what is converted points into them
        self._converted = [
            with_strides_of(value, convert_argument(array, parameter), parameter)
            for value, array, parameter in zip(values, arrays, kernel.params, strict=True)
        ]
        self.tensor_bytes = sum(int(getattr(value, "nbytes", 0)) for value in values)
        self._runs: dict[int, list[dict[str, Any]]] = {}
        self.infos = kernel.summary(arch)["kernels"]
        self.code = kernel._compiled(arch)["kernels"]
        self.is_alone = True
        self.first = self.launches(0)

    def launches(self, block: int) -> list[dict[str, Any]]:
        """What the launches did, with the events of this block of each."""
        if block not in self._runs:
            options = {"trace": (block, self.is_alone), "checks": "none"}
            found = self.kernel.program.run(f"vgpu:{self.arch}", self._converted, options)
            if found["stopped"] and self.is_alone:  # its blocks wait for each other
                self.is_alone = False
                options["trace"] = (block, False)
                found = self.kernel.program.run(f"vgpu:{self.arch}", self._converted, options)
            self._runs[block] = [json.loads(launch) for launch in found["launches"]]
        return self._runs[block]

    def block(self, number: int, block: int) -> dict[str, Any] | None:
        """The trace of a block of a launch."""
        launches = self.launches(block)
        return launches[number].get("trace") if number < len(launches) else None


def _count(trace: Mapping[str, Any]) -> int:
    return sum(event[3] for event in trace["events"] if event[0] == "run")


def _sampled_blocks(sampler: Sampler, number: int, grid: Sequence[int]) -> list[tuple[int, Any]]:
    """Blocks along the grid, with their traces: one if all do the same, else some of each axis."""
    first = sampler.block(number, 0)
    count = grid[0] * grid[1] * grid[2]
    last = sampler.block(number, count - 1) if count > 1 else first
    if last is None or first is None or _count(first) == _count(last):
        return [(0, first)]
    positions = {0, count - 1}
    for part in (1, 2, 3):  # along x, where programs put their rows
        positions.add(grid[0] * part // 4)
    return [(position, sampler.block(number, position)) for position in sorted(positions)]


def _size(intervals: Sequence[Sequence[int]]) -> int:
    return sum(end - begin for begin, end in intervals)


def _overlap(left: Sequence[Sequence[int]], right: Sequence[Sequence[int]]) -> int:
    """Bytes in both of two lists of intervals, each in order."""
    total = i = j = 0
    while i < len(left) and j < len(right):
        begin, end = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        total += max(0, end - begin)
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return total


def _traffic(
    sampler: Sampler, number: int, machine: Machine, grid: Sequence[int], slots: int,
    samples: Sequence[tuple[int, Mapping[str, Any]]],
) -> tuple[float, float]:  # fmt: skip
    """Bytes of all blocks from the L2, and of them from main memory.

    What all blocks touch and the L2 can hold comes once. Else it comes once for each wave: the
    blocks of a wave share what they have in common, which two neighbours along each axis tell.
    """
    position, middle = samples[len(samples) // 2]
    count = grid[0] * grid[1] * grid[2]
    touched = middle.get("touched", [])
    asked = sum(_asked(sample) for _, sample in samples) / len(samples)
    capacity = machine.l2_megabytes * 1e6
    once = sum(_size(t["read"]) + _size(t["written"]) for t in touched)
    whole = min(float(sampler.tensor_bytes), once * count)
    if count == 1 or sampler.tensor_bytes <= capacity:
        return asked * count, whole
    steps = [1, grid[0], grid[0] * grid[1]]
    shared: dict[str, list[bool]] = {}
    for axis, step in enumerate(steps):
        beside = position + step if position + step < count else position - step
        other = sampler.block(number, beside) if grid[axis] > 1 and beside >= 0 else None
        there = {t["name"]: t for t in (other or {}).get("touched", [])}
        for tensor in touched:
            mine = tensor["read"]
            same = other is not None and tensor["name"] in there
            common = _overlap(mine, there[tensor["name"]]["read"]) if same else 0
            shared.setdefault(tensor["name"], []).append(common * 2 > _size(mine) > 0)
    wave = [min(grid[0], slots)]
    wave.append(min(grid[1], -(-slots // grid[0])))
    wave.append(min(grid[2], -(-slots // (grid[0] * grid[1]))))
    waves = count / slots if count > slots else 1.0
    total = 0.0
    for tensor in touched:
        different = 1.0
        for axis in range(3):
            if not shared[tensor["name"]][axis]:
                different *= wave[axis]
        different = min(different, float(min(slots, count)))
        total += waves * different * _size(tensor["read"]) + count * _size(tensor["written"])
    return asked * count, max(whole, min(total, asked * count))


def _asked(trace: Mapping[str, Any]) -> float:
    """Bytes of global memory that a block asks the L2 for."""
    total = 0.0
    for event in trace["events"]:
        if event[0] in ("bulk", "copy", "bulk_store"):
            total += event[3]
        elif event[0] == "run" and len(event) > 9:
            total += event[9] * 32
    return total


def _schedule(times: Sequence[float], slots: int, count: int) -> float:
    """When the last of the blocks ends, each going to the slot that is free first."""
    if count > _MOST_BLOCKS or len(set(times)) == 1:
        return -(-count // slots) * (sum(times) / len(times))
    free = [0.0] * min(slots, count)
    for block in range(count):
        heapq.heapreplace(free, free[0] + times[block % len(times)])
    return max(free)


def predict_launch(sampler: Sampler, number: int, machine: Machine) -> LaunchPrediction:
    """Plays sampled blocks of one launch, and puts the grid together."""
    from tilewright._core import core

    info, code = sampler.infos[number], sampler.code[number]
    result = sampler.first[number]
    trace = result["trace"]
    grid = trace["grid"]
    count = grid[0] * grid[1] * grid[2]
    limits = core.arch_limits([sampler.arch])[sampler.arch]
    registers = info["gpu"].get("registers") or code.get("registers")
    held = occupancy(limits, code["threads"], code["shared_bytes"], registers)
    resident = max(1, min(held["blocks"], -(-count // machine.processors)))
    slots = machine.processors * resident
    samples = _sampled_blocks(sampler, number, grid)
    asked, main = _traffic(sampler, number, machine, grid, min(slots, count), samples)
    missing = min(1.0, main / asked) if asked else 1.0
    active = min(machine.processors, count)
    clock = 1.0  # the part of it that the load leaves

    def play(sample: Mapping[str, Any], copies: int) -> Model:
        memory = Memory.of(machine, active, missing, clock)
        model = Model(machine, sample["warps"], sample.get("lines"), copies, memory)
        model.play(sample["events"])
        return model

    model = play(trace, resident)
    if machine.throttle:
        clock = 1 - machine.throttle * model.load()
        model = play(trace, resident)
    executed = result["counters"]["warp_instructions"] if sampler.is_alone else 0
    known = [(0, model.extrapolate(executed if trace["is_truncated"] else 0))]
    for position, sample in samples[1:]:
        known.append((position, play(sample, resident).end))
    if samples[1:]:  # show the middle one
        model = play(samples[len(samples) // 2][1], resident)
    period = grid[0]
    times = [_between(known, position) for position in range(min(count, period))]
    whole = _schedule(times, slots, count)
    rest = count % slots
    if len(known) == 1 and rest and resident > 1:  # a last wave with fewer on each
        fewer = play(trace, max(1, -(-rest // machine.processors)))
        whole += min(0.0, fewer.end - model.end)
    gigahertz = machine.gigahertz * clock
    least = main / machine.gigabytes_per_second / 1e3  # microseconds
    microseconds = max(whole / gigahertz / 1e3, least) + LAUNCH_MICROSECONDS
    cycle = critical_cycle(model.critical_path(), lambda node: _name(node, trace, code))
    return LaunchPrediction(
        name=code["name"],
        microseconds=microseconds,
        cycles=model.end,
        gigahertz=gigahertz,
        grid=list(grid),
        resident=resident,
        waves=count / slots,
        tensor_use=model.tensor_use(),
        main_bytes=main,
        cache_bytes=asked,
        operations=_operations(sampler, number, samples, count),
        limited_by=_limit(model, cycle, least, whole / gigahertz / 1e3),
        cycle=cycle,
    )


def _operations(
    sampler: Sampler, number: int, samples: Sequence[tuple[int, Any]], count: int
) -> float:
    """Tensor operations of all blocks."""
    if not sampler.is_alone:
        return float(sampler.first[number]["counters"]["tensor_operations"])
    found = [
        sampler.launches(position)[number]["counters"]["tensor_operations"]
        for position, _ in samples
    ]
    return count * sum(found) / len(found)


def _between(known: Sequence[tuple[int, float]], position: int) -> float:
    """The time of a block between two that were played."""
    inner = [entry for entry in known if entry[0] <= position] or [known[0]]
    outer = [entry for entry in known if entry[0] >= position] or [inner[-1]]
    (a, low), (b, high) = inner[-1], outer[0]
    return low if a == b else low + (high - low) * (position - a) / (b - a)


_KINDS = {
    "run": "instructions",
    "tensor": "products",
    "product": "products",
    "copy": "copies",
    "load": "loads",
    "store": "stores",
}


def _name(node: Node, trace: Mapping[str, Any], code: Mapping[str, Any]) -> str:
    """ "products at attention.py:41"."""
    source = (trace.get("lines", {}).get(str(node.line)) or ("",))[0]
    kind = _KINDS.get(node.kind, node.kind)
    file, _, line = source.rpartition(":")
    return f"{kind} at {shorten(file)}:{line}" if file and file != "ptx" else kind


def _limit(model: Model, cycle: Mapping[str, Any], least: float, played: float) -> str:
    """The part of the machine that the critical path is on for longest."""
    if least > played:
        return "main memory"
    shares: dict[str, float] = {}
    for label, share in cycle["shares"]:
        kind = label.split(" at ")[0]
        shares[kind] = shares.get(kind, 0.0) + share
    longest = max(shares, key=lambda kind: shares[kind], default="instructions")
    return {"products": "tensor cores", "copies": "copies", "loads": "loads"}.get(longest, longest)


def as_data(prediction: Prediction) -> list[dict[str, Any]]:
    """For reports: each launch."""
    return [asdict(launch) | {"text": describe(launch)} for launch in prediction.launches]
