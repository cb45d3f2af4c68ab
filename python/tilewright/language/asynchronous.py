"""Statements that TileLang lets run ahead, and the waits for them.

A statement is over before the next one begins; what runs ahead is the compiler's choice and never
seen. So an asynchronous copy or product is the plain one, and a wait for it adds nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tilewright.errors import LanguageError
from tilewright.frontend.trace import Element, describe
from tilewright.language.barriers import Barrier, Barriers, mbarrier_arrive
from tilewright.language.kernel import _in_kernel
from tilewright.language.threads import _meet
from tilewright.language.tiles import GemmWarpPolicy, copy, gemm


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
    """`T.copy`. The barrier it would tell of its bytes counts the arrivals of threads only."""
    if cluster_mask is not None:
        raise LanguageError("'T.tma_copy' to several blocks of a cluster is not supported")
    if barrier is not None and not isinstance(barrier, Barrier | Barriers):
        raise LanguageError(f"'T.tma_copy': barrier must be of T.alloc_barrier, got {barrier!r}")
    copy(src, dst, eviction_policy=eviction_policy, annotations=annotations)


def async_copy(src: Any, dst: Any, **hints: Any) -> None:
    """`T.copy`."""
    copy(src, dst, **hints)


class Pointer(NamedTuple):
    """What `T.access_ptr` gives: some elements in a row, from one on."""

    first: Element
    count: int


def access_ptr(
    base: Any, access_type: str = "rw", extent: int = 1, *more: Any, **options: Any
) -> Pointer:
    """The `extent` elements from `base` (an element, `A[i, j]`) on, for a statement that takes
    pointers. Who reads and writes is known without `access_type`."""
    if type(base) is not Element:
        raise LanguageError(f"'T.access_ptr': expected an element, A[i, j], got {describe(base)}")
    if more or options:
        raise LanguageError("'T.access_ptr': a pointer is to elements in one row")
    if isinstance(extent, bool) or not isinstance(extent, int) or extent < 1:
        raise LanguageError(f"'T.access_ptr': the extent is a positive integer, got {extent!r}")
    return Pointer(base, extent)


def ptx_cp_async(dst: Any, src: Any, num_elems: int, predicate: Any = None) -> None:
    """Copies elements in a row, thread by thread: `T.copy` between two pointers."""
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
    if predicate is not None:
        raise LanguageError(
            "'T.ptx_cp_async' with a predicate is not supported",
            hint="write an 'if', and T.fill for what is not copied",
        )
    state.core.copy(src.first.run(num_elems), dst.first.run(num_elems), {})


def ptx_commit_group() -> None:
    """Groups copies that are over already."""
    _meet("T.ptx_commit_group")


def ptx_wait_group(num: int = 0) -> None:
    """Waits for copies that are over already."""
    _meet("T.ptx_wait_group")


def cp_async_barrier_noinc(barrier: Any) -> None:
    """Each thread arrives when its copies are over, as they are already."""
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
    """`T.gemm`."""
    gemm(A, B, C, transpose_A, transpose_B, policy, clear_accum)


def wait_wgmma(id: int = 0) -> None:
    """Waits for products that are over already."""
    _meet("T.wait_wgmma")


def warpgroup_arrive() -> None:
    """Orders registers before products: the compiler does."""
    _meet("T.warpgroup_arrive")


def warpgroup_commit_batch() -> None:
    """Groups products that are over already."""
    _meet("T.warpgroup_commit_batch")


def warpgroup_wait(num_mma: int = 0) -> None:
    """Waits for products that are over already."""
    _meet("T.warpgroup_wait")


def warpgroup_fence_operand(buffer: Any, *arguments: Any, **options: Any) -> None:
    """Orders registers before products: the compiler does."""
    _meet("T.warpgroup_fence_operand")


def fence_proxy_async() -> None:
    """Orders memory before asynchronous copies: the compiler does."""
    _meet("T.fence_proxy_async")


def tma_store_arrive(*arguments: Any) -> None:
    """Groups copies that are over already."""
    _meet("T.tma_store_arrive")


def tma_store_wait(*arguments: Any) -> None:
    """Waits for copies that are over already."""
    _meet("T.tma_store_wait")


# ---- Hints about registers ----


def set_max_nreg(reg_count: int, is_inc: int) -> None:
    """Hint: how many registers the threads that come here want."""
    _in_kernel("T.set_max_nreg").core.hint("set_max_nreg", [], {"count": int(reg_count)})


def annotate_producer_reg_dealloc(reg_count: int = 24) -> None:
    """Hint: how many registers threads that only copy want."""
    _in_kernel("T.annotate_producer_reg_dealloc").core.hint(
        "producer_reg_dealloc", [], {"count": int(reg_count)}
    )


def annotate_consumer_reg_alloc(reg_count: int = 240) -> None:
    """Hint: how many registers threads that compute want."""
    _in_kernel("T.annotate_consumer_reg_alloc").core.hint(
        "consumer_reg_alloc", [], {"count": int(reg_count)}
    )
