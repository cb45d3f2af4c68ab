"""GPUs as their data sheets have them, occupancy, and the roofline.

The limits of an architecture (shared memory, threads, blocks) live in lib/Target/Arch.cpp; what
needs a clock or the number of multiprocessors lives here, and nowhere else. Everything is a model,
and reports say so.

Sources, by the numbers in the table:
[1] NVIDIA A100 Tensor Core GPU Architecture (white paper): 5120 bytes of L2 a clock.
[2] NVIDIA H100 Tensor Core GPU Architecture (white paper) and data sheet. The L2's width is not
    given; we take the A100's.
[3] NVIDIA Ampere GA102 and Ada GPU Architecture (white papers), data sheet of the RTX A6000.
[4] NVIDIA RTX Blackwell GPU Architecture (white paper); HGX B200 and B300 data sheets.
[5] Jetson AGX Orin and Jetson Thor data sheets; dense rates are half of the sparse ones.
[6] CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions": results a clock and
    multiprocessor. Special functions 16, conversions 64, shuffles 32 and integers 64 everywhere.
[7] Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via
    Microbenchmarking" (2024): latencies; mma.sync reaches 0.63 of the H100's peak.
[8] NVIDIA's talk about the GB10 at Hot Chips 2025: 6144 lanes, 31 TFLOPS of float32, 24 MB of L2,
    1 PFLOPS of sparse fp4 (float16 with float32 sums has a sixteenth of that, as on sm_120 [4]).
    Bandwidth: DGX Spark data sheet.
No vendor gives these two: the width of other L2s (we take 32 bytes a clock and multiprocessor), and
the rate of mma.sync on sm_100, sm_103 and sm_110, whose peak is tcgen05's (we take Ampere's).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Machine:
    """A GPU as its data sheet has it; operations are those of float16 with float32 sums."""

    name: str
    processors: int
    gigahertz: float
    gigabytes_per_second: float
    tensor_teraflops: float
    l2_megabytes: float
    l2_bytes_per_cycle: float | None = None  # of all; None: 32 for each processor
    mma_share: float = 1.0  # of the peak, by mma.sync
    float_lanes: int = 128  # float32 results a cycle and processor [6]
    #: The share of the clock that a full load of the tensor cores costs, by its power; one of the
    #: issue slots costs as much. Only the H100's is known: cuBLAS gets 797.8 of 989.4 TFLOPS at
    #: 8192^3 (benchmarks/bench_model.py).
    throttle: float = 0.0

    @property
    def tensor_operations_per_cycle(self) -> float:
        """Of one multiprocessor."""
        return self.tensor_teraflops * 1e12 / (self.processors * self.gigahertz * 1e9)

    @property
    def bytes_per_cycle(self) -> float:
        """What main memory gives one multiprocessor, if all ask."""
        return self.gigabytes_per_second / (self.processors * self.gigahertz)

    @property
    def l2_bytes(self) -> float:
        """What the L2 gives all multiprocessors together in a cycle."""
        return self.l2_bytes_per_cycle or 32.0 * self.processors


_H100 = Machine("H100 SXM", 132, 1.83, 3350, 989.4, 50, 5120, mma_share=0.63, throttle=0.15)

#: One well-known GPU of each architecture.
MACHINES: dict[str, Machine] = {
    "sm_80": Machine("A100 SXM 40 GB", 108, 1.41, 1555, 312, 40, 5120, float_lanes=64),  # [1]
    "sm_86": Machine("RTX A6000", 84, 1.80, 768, 154.8, 6),  # [3]
    "sm_87": Machine("Jetson AGX Orin 64 GB", 16, 1.30, 204.8, 42.5, 4),  # [5]
    "sm_89": Machine("RTX 4090", 128, 2.52, 1008, 165.2, 72),  # [3]
    "sm_90": _H100,  # [2]
    "sm_90a": _H100,  # [2]
    "sm_100": Machine("B200", 148, 1.85, 8000, 2250, 126, mma_share=0.25),  # [4]
    "sm_103": Machine("B300", 148, 1.85, 8000, 2250, 126, mma_share=0.25),  # [4]
    "sm_110": Machine("Jetson T5000", 20, 1.575, 273, 258.75, 32, mma_share=0.25),  # [5]
    "sm_120": Machine("RTX 5090", 170, 2.41, 1792, 209.5, 96),  # [4]
    "sm_121": Machine("GB10", 48, 2.52, 273, 62.5, 24),  # [8]
}

#: Results a cycle and multiprocessor, by the virtual GPU's classes of instructions [6]. A move is
#: none: ptxas gives both sides the same register.
LANES: dict[str, int] = {
    "special": 16,
    "convert": 64,
    "warp_level": 32,
    "integer": 64,
    "compare": 64,
    "float64": 64,
}

#: Cycles until a load has its value, from where it is found [7]. A bulk copy takes longer: it is
#: unpacked into boxes, and ends at an mbarrier.
SHARED_LATENCY = 30
L2_LATENCY = 270
GLOBAL_LATENCY = 480
BULK_LATENCY = 150
BARRIER_LATENCY = 20
#: From the last of its products to a warpgroup that has waited for it.
PRODUCT_LATENCY = 30

#: A launch, from the first block's start until the last one's end is seen, in microseconds.
LAUNCH_MICROSECONDS = 2.0

#: A multiprocessor has four schedulers, each with a quarter of its registers for whole warps.
_PARTS = 4
#: Registers are given to warps in units of so many, shared memory to blocks likewise.
_REGISTER_UNIT = 256
_SHARED_RESERVED = 1024

#: Warp instructions that a multiprocessor starts in a cycle.
ISSUES = 4
#: Cycles between two instructions of one warp: most need a result of one before. Calibrated.
ISSUE_INTERVAL = 2.0
#: Bytes of shared memory that a multiprocessor reads or writes in a cycle.
SHARED_BYTES = 128
#: Bytes that a multiprocessor takes from the L2 in a cycle, at most.
PORT_BYTES = 64


def tensor_rate(machine: Machine, opcode: str) -> float:
    """Operations a cycle and multiprocessor of the products of an instruction."""
    parts = opcode.split(".")
    rate = machine.tensor_operations_per_cycle
    if not {"e4m3", "e5m2", "s8", "u8"}.isdisjoint(parts):
        rate *= 2
    elif "tf32" in parts:
        rate /= 2
    elif "f64" in parts:
        rate /= 16
    return rate if parts[0] in ("wgmma", "") else rate * machine.mma_share


def occupancy(
    limits: Mapping[str, int], threads: int, shared_bytes: int, registers: int | None
) -> dict[str, Any]:
    """How many blocks of a kernel a multiprocessor holds, and what stands in the way of more."""
    warps = -(-threads // 32)
    bounds = {
        "blocks": limits["blocks_per_processor"],
        "threads": limits["threads_per_processor"] // (warps * 32),
        "shared memory": limits["shared_bytes_per_processor"] // (shared_bytes + _SHARED_RESERVED),
    }
    if registers:
        taken = -(-registers * 32 // _REGISTER_UNIT) * _REGISTER_UNIT
        held = limits["registers_per_processor"] // _PARTS // taken * _PARTS
        bounds["registers"] = held // warps
    blocks = min(bounds.values())
    return {
        "blocks": blocks,
        "warps": blocks * warps,
        "most_warps": limits["threads_per_processor"] // 32,
        "limited_by": [name for name, bound in bounds.items() if bound == blocks],
        "bounds": bounds,
        "registers": registers,
        "fits": threads <= limits["max_threads"] and shared_bytes <= limits["max_shared_bytes"],
    }


def work_of(counters: Mapping[str, Any], scale: float, tensor_bytes: int) -> dict[str, Any]:
    """What a launch does, by its counters; `scale` is how many times that all blocks do."""
    tensor = counters["tensor_operations"] * scale
    floats = counters["by_class"].get("float32", 0) * 32 * scale
    return {
        "tensor_operations": tensor,
        "float_operations": floats,
        "operations": tensor or floats,
        "unit": "tensor cores" if tensor else "float32 lanes",
        "warp_instructions": counters["warp_instructions"] * scale,
        "shared_wavefronts": counters.get("shared_wavefronts", 0) * scale,
        "sector_bytes": counters.get("global_sectors", 0) * 32 * scale,
        "tensor_bytes": tensor_bytes,
        "intensity": (tensor or floats) / tensor_bytes if tensor_bytes else None,
    }


def predict(
    machine: Machine, work: Mapping[str, Any], blocks: int, resident: int
) -> dict[str, Any]:
    """The roofline of a machine and where a kernel is on it; times in microseconds."""
    cycles = machine.processors * machine.gigahertz * 1e3  # of all processors, in a microsecond
    slots = machine.processors * max(resident, 1)
    waves = -(-blocks // slots)
    used = blocks / (waves * slots) if resident > 1 else blocks / (waves * machine.processors)
    if work["tensor_operations"]:
        peak = machine.tensor_teraflops * 1e12
    else:
        peak = machine.processors * machine.gigahertz * 1e9 * 2 * machine.float_lanes
    bounds = {
        work["unit"]: work["operations"] / peak * 1e6,
        "instruction issue": work["warp_instructions"] / ISSUES / cycles,
        "shared memory": work["shared_wavefronts"] / cycles,
        "main memory": work["tensor_bytes"] / machine.gigabytes_per_second / 1e3,
    }
    for part in bounds:
        if part != "main memory":
            bounds[part] /= used or 1
    slowest = max(bounds, key=lambda part: bounds[part])
    return {
        "machine": asdict(machine),
        "peak_operations": peak,
        "waves": waves,
        "bounds": bounds,
        "limited_by": slowest,
        "microseconds": bounds[slowest],
        "ridge": peak / (machine.gigabytes_per_second * 1e9),
    }
