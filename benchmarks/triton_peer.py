"""Times Triton on the GEMM of bench_compile.py: 1024 x 1024 x 1024 in float16, tiles of 128 x 128 x
32, 3 stages, 4 warps.

Runs in a process of its own, with Triton, without a GPU. Triton's cache is off; the first round
warms up. Times are processor time, that of ptxas included: a busy machine does not stretch it.
Standard output gets the least milliseconds to PTX and to a cubin, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from typing import Any

import triton
import triton.language as tl
from figures import child_seconds

ROUNDS = 5


@triton.jit
def matmul(
    a, b, c,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    a_pointers = a + rows[:, None] * K + inner[None, :]
    b_pointers = b + inner[:, None] * N + columns[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        total = tl.dot(tl.load(a_pointers), tl.load(b_pointers), total)
        a_pointers += BK
        b_pointers += BK * N
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(tl.float16))


def processor_seconds() -> float:
    return time.process_time() + child_seconds()


def compile_once(arch: int) -> dict[str, float]:
    """Seconds of each stage, and of all."""
    from triton.backends.compiler import GPUTarget
    from triton.backends.nvidia.compiler import CUDABackend
    from triton.compiler import ASTSource

    stages: dict[str, float] = {}
    add_stages = CUDABackend.add_stages

    def add_timed_stages(self: Any, table: dict[str, Any], *rest: Any) -> None:
        add_stages(self, table, *rest)
        for name, stage in list(table.items()):

            def timed(source: Any, metadata: Any, name: str = name, stage: Any = stage) -> Any:
                start = processor_seconds()
                result = stage(source, metadata)
                stages[name] = processor_seconds() - start
                return result

            table[name] = timed

    constants = {"M": 1024, "N": 1024, "K": 1024, "BM": 128, "BN": 128, "BK": 32}
    signature = {"a": "*fp16", "b": "*fp16", "c": "*fp16", **dict.fromkeys(constants, "constexpr")}
    aligned = {(position,): [["tt.divisibility", 16]] for position in range(3)}
    source = ASTSource(matmul, signature, constants, aligned)
    CUDABackend.add_stages = add_timed_stages
    try:
        start = processor_seconds()
        triton.compile(
            source, target=GPUTarget("cuda", arch, 32), options={"num_warps": 4, "num_stages": 3}
        )
        stages["all"] = processor_seconds() - start
    finally:
        CUDABackend.add_stages = add_stages
    return stages


def main() -> None:
    json.load(sys.stdin)  # there is one kernel
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        rounds = [compile_once(int(sys.argv[1][3:])) for _ in range(ROUNDS + 1)][1:]
    least = {
        "ptx": min(1e3 * (times["all"] - times["cubin"]) for times in rounds),
        "cubin": min(1e3 * times["all"] for times in rounds),
    }
    json.dump(least, sys.stdout)


if __name__ == "__main__":
    main()
