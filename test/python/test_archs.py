"""The architectures: limits of each, PTX that ptxas takes, runs on the virtual GPU."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright import ptxas, vgpu
from tilewright._core import core
from tilewright.device import ARCHS, capability, multiprocessors

needs_ptxas = pytest.mark.skipif(ptxas.find_ptxas() is None, reason="ptxas is not installed")

# Shared memory of a block in KB: CUDA programming guide, "Technical Specifications per Compute
# Capability".
SHARED_KILOBYTES = {
    "sm_80": 163, "sm_86": 99, "sm_87": 163, "sm_89": 99, "sm_90": 227, "sm_90a": 227,
    "sm_100": 227, "sm_103": 227, "sm_110": 227, "sm_120": 99, "sm_121": 99,
}  # fmt: skip

# Of a multiprocessor: threads and blocks; of PTX the first version that knows the architecture.
# Sources: NVIDIA's libcu++ (cuda/__device/arch_traits.h) and LLVM's NVPTX.td.
THREADS_AND_BLOCKS = {
    "sm_80": (2048, 32), "sm_86": (1536, 16), "sm_87": (1536, 16), "sm_89": (1536, 24),
    "sm_90": (2048, 32), "sm_90a": (2048, 32), "sm_100": (2048, 32), "sm_103": (2048, 32),
    "sm_110": (1536, 24), "sm_120": (1536, 24), "sm_121": (1536, 24),
}  # fmt: skip
FIRST_PTX = {
    "sm_80": (7, 0), "sm_86": (7, 1), "sm_87": (7, 4), "sm_89": (7, 8), "sm_90": (7, 8),
    "sm_90a": (8, 0), "sm_100": (8, 6), "sm_103": (8, 8), "sm_110": (9, 0), "sm_120": (8, 7),
    "sm_121": (8, 8),
}  # fmt: skip


def make_gemm(dtype: str):
    @T.prim_func
    def main(
        A: T.Tensor((64, 64), dtype), B: T.Tensor((64, 64), dtype), C: T.Tensor((64, 64), "float32")
    ):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), dtype)
            b = T.alloc_shared((64, 64), dtype)
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C)

    return main


def test_the_table_is_complete() -> None:
    assert set(SHARED_KILOBYTES) == set(ARCHS)
    for arch in ARCHS:
        major, minor = capability(arch)
        assert f"sm_{major}{minor}" == arch.rstrip("a")
        assert multiprocessors(arch) > 0


@pytest.mark.parametrize("arch", ARCHS)
def test_limits_are_those_of_nvidia(arch: str) -> None:
    limits = core.arch_limits([arch])[arch]
    shared = 1024 * SHARED_KILOBYTES[arch]
    assert (limits["threads_per_processor"], limits["blocks_per_processor"]) == (
        THREADS_AND_BLOCKS[arch]
    )
    assert limits["max_shared_bytes"] == shared
    assert limits["shared_bytes_per_processor"] == shared + 1024
    assert limits["registers_per_processor"] == 65536
    ptx = tilewright.compile(make_gemm("float16"), target=arch, device=f"vgpu:{arch}").ptx
    version = re.search(r"\.version (\d+)\.(\d+)", ptx)
    assert version
    assert tuple(map(int, version.groups())) >= FIRST_PTX[arch]


@pytest.mark.parametrize("arch", ARCHS)
def test_shared_memory_fits_the_architecture(arch: str) -> None:
    def make(kilobytes: int):
        @T.prim_func
        def main(A: T.Tensor((kilobytes, 256), "float32")):
            with T.Kernel(1, threads=128):
                tile = T.alloc_shared((kilobytes, 256), "float32")
                T.copy(A, tile)
                T.copy(tile, A)

        return main

    most = SHARED_KILOBYTES[arch]
    tilewright.compile(make(most), device=f"vgpu:{arch}")
    with pytest.raises(tilewright.TilewrightError, match=f"{arch} allows {most * 1024}"):
        tilewright.compile(make(most + 1), device=f"vgpu:{arch}")


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("dtype", ["float16", "float8_e4m3fn"])
def test_gemm_runs_on_the_virtual_gpu(arch: str, dtype: str) -> None:
    kind = np.float16 if dtype == "float16" else ml_dtypes.float8_e4m3fn
    generator = np.random.default_rng(0)
    a, b = (generator.integers(-3, 4, (64, 64)).astype(kind) for _ in range(2))
    c = np.zeros((64, 64), np.float32)
    kernel = tilewright.compile(make_gemm(dtype), device=f"vgpu:{arch}")
    kernel(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)
    assert f".target {arch}" in kernel.ptx
    has_fp8 = ARCHS.index(arch) >= ARCHS.index("sm_89")
    if dtype != "float16":
        product = r"wgmma\.mma_async" if arch == "sm_90a" else r"mma\.sync"
        assert bool(re.search(rf"{product}.*e4m3", kernel.ptx)) == has_fp8


@needs_ptxas
@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("dtype", ["float16", "float8_e4m3fn"])
def test_ptxas_takes_the_ptx(arch: str, dtype: str) -> None:
    kernel = tilewright.compile(make_gemm(dtype), device=f"vgpu:{arch}")
    assert kernel.cubin()


def test_code_for_sm_90a_runs_on_its_devices_only() -> None:
    ptx = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n"
    for arch in ("sm_90", "sm_90a"):
        assert vgpu.launch(ptx, "k", 1, 1, [], arch=arch).complete
    for arch in ("sm_89", "sm_100", "sm_120"):
        with pytest.raises(Exception, match=f"the PTX is for sm_90a, the device is {arch}"):
            vgpu.launch(ptx, "k", 1, 1, [], arch=arch)
