"""Tensor memory, and the products that use it.

Where a tile lives changes no value, so a tile of tensor memory is one spread over registers, the
other home of accumulators: programs for the fifth generation of tensor cores run everywhere. Their
products are over before the next statement and tell a barrier so once, whoever starts them.
"""

from __future__ import annotations

from typing import Any

from tilewright.frontend.trace import Buffer
from tilewright.language.allocation import _alloc
from tilewright.language.barriers import arrive_once
from tilewright.language.kernel import _in_kernel
from tilewright.language.threads import _meet
from tilewright.language.tiles import GemmWarpPolicy, gemm, require_tile
from tilewright.support.errors import LanguageError


def alloc_tmem(shape: Any, dtype: Any) -> Buffer:
    """A tile for the results, or the first operands, of `T.tcgen05_gemm`.

    Example:
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((128, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_tmem((128, 64), "float32")
            done = T.alloc_barrier(1)
            T.clear(a)
            T.copy(H, b)
            T.tcgen05_gemm(a, b, c, mbar=done, clear_accum=True)
            T.barrier_wait(done, 0)
            x = T.alloc_fragment((128, 64), "float32")
            T.copy(c, x)
            T.copy(x[0:64, :], B)
    """
    return _alloc("T.alloc_tmem", shape, dtype, "fragment")


def deallocate_tmem(tmem_buffer: Any) -> None:
    """Ends the life of a tile: the compiler knows.

    Example:
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((128, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_tmem((128, 64), "float32")
            done = T.alloc_barrier(1)
            T.clear(a)
            T.copy(H, b)
            T.tcgen05_gemm(a, b, c, mbar=done, clear_accum=True)
            T.barrier_wait(done, 0)
            x = T.alloc_fragment((128, 64), "float32")
            T.copy(c, x)
            T.copy(x[0:64, :], B)
            T.deallocate_tmem(c)
    """
    _in_kernel("T.deallocate_tmem")
    require_tile(tmem_buffer, "T.deallocate_tmem", "the tile")


def tcgen05_gemm(
    A: Any,
    B: Any,
    C: Any,
    transpose_A: bool = False,
    transpose_B: bool = False,
    policy: GemmWarpPolicy = GemmWarpPolicy.Square,
    clear_accum: Any = False,
    *,
    mbar: Any = None,
    use_2cta: bool = False,
    annotations: dict[str, Any] | None = None,
) -> None:
    """`T.gemm`; then the barrier `mbar` counts one arrival.

    Example:
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((128, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_tmem((128, 64), "float32")
            done = T.alloc_barrier(1)
            T.clear(a)
            T.copy(H, b)
            T.tcgen05_gemm(a, b, c, mbar=done, clear_accum=True)
            T.barrier_wait(done, 0)
            x = T.alloc_fragment((128, 64), "float32")
            T.copy(c, x)
            T.copy(x[0:64, :], B)
    """
    if use_2cta:
        raise LanguageError(
            "'T.tcgen05_gemm' by two blocks of a cluster is not supported",
            hint="compute a tile in one block",
        )
    gemm(A, B, C, transpose_A, transpose_B, policy, clear_accum)
    if mbar is not None:
        arrive_once(mbar, "T.tcgen05_gemm")


def tcgen05_mma_arrive(mbar: Any, arrive_2cta: bool = False) -> None:
    """One arrival, however many threads come here: the products before this are over.

    Example:
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((128, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_tmem((128, 64), "float32")
            done = T.alloc_barrier(1)
            T.clear(a)
            T.copy(H, b)
            T.tcgen05_gemm(a, b, c, clear_accum=True)
            T.tcgen05_mma_arrive(done)
            T.barrier_wait(done, 0)
            x = T.alloc_fragment((128, 64), "float32")
            T.copy(c, x)
            T.copy(x[0:64, :], B)
    """
    if arrive_2cta:
        raise LanguageError("'T.tcgen05_mma_arrive' at two blocks of a cluster is not supported")
    arrive_once(mbar, "T.tcgen05_mma_arrive")


def tcgen05_before_thread_sync() -> None:
    """Orders products before a barrier: the compiler does.

    Example:
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((128, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_tmem((128, 64), "float32")
            done = T.alloc_barrier(1)
            T.clear(a)
            T.copy(H, b)
            T.tcgen05_gemm(a, b, c, mbar=done, clear_accum=True)
            T.barrier_wait(done, 0)
            T.tcgen05_before_thread_sync()
            x = T.alloc_fragment((128, 64), "float32")
            T.copy(c, x)
            T.copy(x[0:64, :], B)
    """
    _meet("T.tcgen05_before_thread_sync")


def tcgen05_after_thread_sync() -> None:
    """Orders gemms after a barrier; the compiler does so anyway.

    Example:
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((128, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_tmem((128, 64), "float32")
            done = T.alloc_barrier(1)
            T.clear(a)
            T.copy(H, b)
            T.tcgen05_gemm(a, b, c, mbar=done, clear_accum=True)
            T.barrier_wait(done, 0)
            T.tcgen05_after_thread_sync()
            x = T.alloc_fragment((128, 64), "float32")
            T.copy(c, x)
            T.copy(x[0:64, :], B)
    """
    _meet("T.tcgen05_after_thread_sync")
