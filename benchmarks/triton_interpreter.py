"""Prints the processor seconds of Triton's matmul of 256 x 256 x 256 in its interpreter mode.

Run by bench_vgpu.py, in a process of its own and by any Python that has triton and torch:

    TRITON_INTERPRET=1 python benchmarks/triton_interpreter.py

It is the source of the PTX that the virtual GPU runs (vgpu/test/third_party/triton_src).
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
import triton.language as tl
from figures import median_seconds

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "vgpu/test/third_party/triton_src"))

from kernels import matmul

SIZE = 256


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    a, b = (torch.randn(SIZE, SIZE, dtype=torch.float16) for _ in range(2))
    c = torch.zeros(SIZE, SIZE, dtype=torch.float32)

    def run() -> None:
        matmul[(SIZE // 64, SIZE // 64)](
            a, b, c, SIZE, SIZE, SIZE, *a.stride(), *b.stride(), BM=64, BN=64, BK=32, ACC=tl.float32
        )

    run()
    assert (c - a.float() @ b.float()).abs().max() < 1e-2
    print(median_seconds(run, rounds=7, warm_up=1))


if __name__ == "__main__":
    main()
