"""Statements that TileLang lets run ahead, and the waits for them.

A statement is over before the next one begins; what runs ahead is the compiler's choice and never
seen. So an asynchronous copy or product is the plain one, and a wait for it adds nothing.
"""

from __future__ import annotations

from typing import Any

from tilewright.frontend.loops import truth
from tilewright.frontend.trace import describe, is_kernel_value
from tilewright.language.barriers import Barrier, Barriers, mbarrier_arrive
from tilewright.language.clusters import copy_cluster
from tilewright.language.kernel import _in_kernel
from tilewright.language.pointers import Pointer
from tilewright.language.scalars import if_then_else
from tilewright.language.threads import _meet
from tilewright.language.tiles import GemmWarpPolicy, copy, gemm
from tilewright.support.errors import LanguageError


def tma_copy(
    src: Any,
    dst: Any,
    *,
    barrier: Any = None,
    cluster_mask: int | None = None,
    leader_scope_threads: int | None = None,
    eviction_policy: str | None = None,
    annotations: dict[str, Any] | None = None,
) -> None:
    """`T.copy`, or `T.copy_cluster` with a `cluster_mask`. The barrier it would tell of its bytes
    counts the arrivals of threads only.

    Example:
        T.tma_copy(A, s)
        T.copy(s, B)
    """
    if barrier is not None and not isinstance(barrier, Barrier | Barriers):
        raise LanguageError(f"'T.tma_copy': barrier must be of T.alloc_barrier, got {barrier!r}")
    if cluster_mask is not None:
        copy_cluster(src, dst, cluster_mask=cluster_mask, eviction_policy=eviction_policy)
    else:
        copy(src, dst, eviction_policy=eviction_policy, annotations=annotations)


def async_copy(src: Any, dst: Any, **hints: Any) -> None:
    """`T.copy`.

    Example:
        T.async_copy(A, s)
        T.copy(s, B)
    """
    copy(src, dst, **hints)


def ptx_cp_async(dst: Any, src: Any, num_elems: int, predicate: Any = None) -> None:
    """Copies elements in a row, thread by thread: `T.copy` between two pointers. Where `predicate`
    does not hold, zeros are written.

    Example:
        x = T.alloc_shared((128, 4), "float32")
        T.ptx_cp_async(T.access_ptr(x[tx, 0], "w", 4), T.access_ptr(A[tx % 64, 0], "r", 4), 4)
        T.ptx_wait_group(0)
        T.copy(x[0:64, :], B[:, 0:4])
    """
    state = _in_kernel("T.ptx_cp_async")
    for pointer in (dst, src):
        if not isinstance(pointer, Pointer):
            what = describe(pointer)
            raise LanguageError(f"'T.ptx_cp_async' copies between T.access_ptr, got {what}")
        if pointer.count != num_elems:
            raise LanguageError(
                f"'T.ptx_cp_async': expected pointers to {num_elems!r} elements, got one to "
                f"{pointer.count}"
            )
    if state.innermost(("parallel",)) is not None:  # an iteration copies its own elements
        for number in range(num_elems):
            value = src.element(number).load()
            if predicate is not None:
                value = if_then_else(predicate, value, 0)
            dst.element(number).store(value)
        return
    target = dst.first.run(num_elems)
    if predicate is None or (not is_kernel_value(predicate) and predicate):
        state.core.copy(src.first.run(num_elems), target, {})
    elif not is_kernel_value(predicate):
        state.core.fill(target, 0)
    else:
        region = state.open("if")
        state.core.if_begin(truth(state, predicate))
        state.core.copy(src.first.run(num_elems), target, {})
        state.core.else_begin()
        state.core.fill(dst.first.run(num_elems), 0)
        state.close(region)


def ptx_commit_group() -> None:
    """Groups copies that are over already.

    Example:
        T.copy(A, s)
        T.ptx_commit_group()
        T.ptx_wait_group(0)
        T.copy(s, B)
    """
    _meet("T.ptx_commit_group")


def ptx_wait_group(num: int = 0) -> None:
    """Waits for copies that are over already.

    Example:
        T.copy(A, s)
        T.ptx_commit_group()
        T.ptx_wait_group(0)
        T.copy(s, B)
    """
    _meet("T.ptx_wait_group")


def cp_async_barrier_noinc(barrier: Any) -> None:
    """Each thread arrives when its copies are over, as they are already.

    Example:
        with T.Kernel(1, threads=256):
            x = T.alloc_shared((64, 64), "float32")
            ready = T.alloc_barrier(128)
            with T.ws(1):
                T.copy(A, x)
                T.cp_async_barrier_noinc(ready)
            with T.ws(0):
                T.barrier_wait(ready, 0)
                T.copy(x, B)
    """
    mbarrier_arrive(barrier)


def wgmma_gemm(
    A: Any,
    B: Any,
    C: Any,
    transpose_A: bool = False,
    transpose_B: bool = False,
    policy: GemmWarpPolicy = GemmWarpPolicy.Square,
    clear_accum: Any = False,
    annotations: dict[str, Any] | None = None,
) -> None:
    """`T.gemm`.

    Example:
        a = T.alloc_shared((64, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.copy(H, a)
        T.wgmma_gemm(a, a, c, clear_accum=True)
        T.copy(c, B)
    """
    gemm(A, B, C, transpose_A, transpose_B, policy, clear_accum)


def wait_wgmma(id: int = 0) -> None:
    """Waits for products that are over already.

    Example:
        a = T.alloc_shared((64, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.copy(H, a)
        T.wgmma_gemm(a, a, c, clear_accum=True)
        T.wait_wgmma(0)
        T.copy(c, B)
    """
    _meet("T.wait_wgmma")


def warpgroup_arrive() -> None:
    """Orders registers before products: the compiler does.

    Example:
        a = T.alloc_shared((64, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.copy(H, a)
        T.wgmma_gemm(a, a, c, clear_accum=True)
        T.warpgroup_arrive()
        T.copy(c, B)
    """
    _meet("T.warpgroup_arrive")


def warpgroup_commit_batch() -> None:
    """Groups products that are over already.

    Example:
        a = T.alloc_shared((64, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.copy(H, a)
        T.wgmma_gemm(a, a, c, clear_accum=True)
        T.warpgroup_commit_batch()
        T.copy(c, B)
    """
    _meet("T.warpgroup_commit_batch")


def warpgroup_wait(num_mma: int = 0) -> None:
    """Waits for products that are over already.

    Example:
        a = T.alloc_shared((64, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.copy(H, a)
        T.wgmma_gemm(a, a, c, clear_accum=True)
        T.warpgroup_wait(0)
        T.copy(c, B)
    """
    _meet("T.warpgroup_wait")


def warpgroup_fence_operand(buffer: Any, *arguments: Any, **options: Any) -> None:
    """Orders registers before products: the compiler does.

    Example:
        a = T.alloc_shared((64, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.copy(H, a)
        T.wgmma_gemm(a, a, c, clear_accum=True)
        T.warpgroup_fence_operand(c)
        T.copy(c, B)
    """
    _meet("T.warpgroup_fence_operand")


def fence_proxy_async() -> None:
    """Orders memory before asynchronous copies: the compiler does.

    Example:
        T.fence_proxy_async()
        for i, j in T.Parallel(64, 64):
            B[i, j] = A[i, j]
    """
    _meet("T.fence_proxy_async")


def tma_store_arrive(*arguments: Any) -> None:
    """Groups copies that are over already.

    Example:
        T.copy(s, B)
        T.tma_store_arrive()
    """
    _meet("T.tma_store_arrive")


def tma_store_wait(*arguments: Any, read: bool = True) -> None:
    """Waits for copies that are over already.

    Example:
        T.copy(s, B)
        T.tma_store_wait()
    """
    _meet("T.tma_store_wait")


# ---- Hints about registers ----


def set_max_nreg(reg_count: int, is_inc: int) -> None:
    """Hint: how many registers the threads that come here want.

    Example:
        with T.Kernel(1, threads=128):
            T.set_max_nreg(240, 1)
            T.copy(A, B)
    """
    state = _in_kernel("T.set_max_nreg")
    if isinstance(reg_count, bool) or not isinstance(reg_count, int) or reg_count < 1:
        raise LanguageError(
            f"a number of registers is a positive Python integer, got {describe(reg_count)}"
        )
    if not 24 <= reg_count <= 256 or reg_count % 8:
        raise LanguageError(f"a thread has 24 to 256 registers, a multiple of 8, got {reg_count}")
    state.core.hint("set_max_nreg", [], {"count": reg_count})


def inc_max_nreg(reg_count: int) -> None:
    """Hint: the threads that come here want more registers, up to `reg_count`.

    Example:
        with T.Kernel(1, threads=128):
            T.inc_max_nreg(240)
            T.copy(A, B)
    """
    set_max_nreg(reg_count, 1)


def dec_max_nreg(reg_count: int) -> None:
    """Hint: the threads that come here give registers up, down to `reg_count`.

    Example:
        with T.Kernel(1, threads=128):
            T.dec_max_nreg(240)
            T.copy(A, B)
    """
    set_max_nreg(reg_count, 0)


def annotate_producer_reg_dealloc(reg_count: int = 24) -> None:
    """Hint: how many registers threads that only copy want.

    Example:
        T.annotate_producer_reg_dealloc()
        T.copy(A, B)
    """
    _in_kernel("T.annotate_producer_reg_dealloc").core.hint(
        "producer_reg_dealloc", [], {"count": int(reg_count)}
    )


def annotate_consumer_reg_alloc(reg_count: int = 240) -> None:
    """Hint: how many registers threads that compute want.

    Example:
        T.annotate_consumer_reg_alloc()
        T.copy(A, B)
    """
    _in_kernel("T.annotate_consumer_reg_alloc").core.hint(
        "consumer_reg_alloc", [], {"count": int(reg_count)}
    )
