"""A model of GPUs: from counters to occupancy, a roofline and a predicted time.

Everything here is a model, and reports say so. The figures of a GPU are those of its data sheet. A
kernel takes as long as the part of the machine that it uses most: tensor cores, issue slots, shared
memory or main memory, each at its peak; latencies and caches are left out.
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

    @property
    def tensor_operations_per_cycle(self) -> float:
        """Of one multiprocessor."""
        return self.tensor_teraflops * 1e12 / (self.processors * self.gigahertz * 1e9)

    @property
    def bytes_per_cycle(self) -> float:
        """What main memory gives one multiprocessor, if all ask."""
        return self.gigabytes_per_second / (self.processors * self.gigahertz)


#: One well-known GPU of each architecture whose data sheet has all figures.
MACHINES: dict[str, Machine] = {
    "sm_80": Machine("A100 SXM 40 GB", 108, 1.41, 1555, 312),
    "sm_86": Machine("RTX A6000", 84, 1.80, 768, 154.8),
    "sm_89": Machine("RTX 4090", 128, 2.52, 1008, 165.2),
    "sm_90": Machine("H100 SXM", 132, 1.83, 3350, 989.4),
    "sm_90a": Machine("H100 SXM", 132, 1.83, 3350, 989.4),
    "sm_100": Machine("B200", 148, 1.85, 8000, 2250),
    "sm_120": Machine("RTX 5090", 170, 2.41, 1792, 209.5),
}

#: Registers are given to warps in units of so many, shared memory to blocks likewise.
_REGISTER_UNIT = 256
_SHARED_RESERVED = 1024

#: Warp instructions that a multiprocessor starts in a cycle, and its float32 lanes.
_ISSUES = 4
_FLOAT_OPERATIONS = 256


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
        taken = -(-registers * 32 // _REGISTER_UNIT) * _REGISTER_UNIT * warps
        bounds["registers"] = limits["registers_per_processor"] // taken
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
        peak = machine.processors * machine.gigahertz * 1e9 * _FLOAT_OPERATIONS
    bounds = {
        work["unit"]: work["operations"] / peak * 1e6,
        "instruction issue": work["warp_instructions"] / _ISSUES / cycles,
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
