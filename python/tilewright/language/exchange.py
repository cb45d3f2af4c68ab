"""Values that threads hand to one another: shuffles, votes and reductions of warps.

Each is two statements: all threads write their value into a shared tile, then each reads the one
it needs. A thread that does not reach the statement contributes nothing: what is read from it has
no value. The masks of lanes say who takes part and are the conditions around the call here.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from tilewright.frontend.trace import describe, dtype_of, is_kernel_value, is_scalar
from tilewright.language import scalars
from tilewright.language.kernel import _in_kernel
from tilewright.language.threads import WARP_SIZE, linear_thread
from tilewright.support.errors import LanguageError


def published(value: Any, what: str) -> tuple[Any, Any]:
    """A shared tile of the values of all threads, and the number of this thread."""
    state = _in_kernel(what)
    if state.innermost(("parallel",)) is not None:
        raise LanguageError(f"'{what}' inside T.Parallel: its iterations are not threads")
    if not is_scalar(value):
        raise LanguageError(f"'{what}' needs a scalar, got {describe(value)}")
    dtype = dtype_of(value)
    threads = prod(state.threads)
    tile = state.core.alloc(
        "exchanged", [threads], "int32" if dtype == "index" else dtype, "shared"
    )
    thread = linear_thread(what)
    tile[thread] = value
    return tile, thread


def _check_width(width: Any, what: str) -> int:
    if is_kernel_value(width) or width not in (1, 2, 4, 8, 16, 32):
        raise LanguageError(f"'{what}': width is a power of two up to {WARP_SIZE}, got {width!r}")
    return int(width)


def _shuffle(what: str, value: Any, width: Any, source: Callable[[Any, Any], Any]) -> Any:
    """The value of the lane `source(lane, width)` of the thread's group of `width` lanes."""
    width = _check_width(width, what)
    tile, thread = published(value, what)
    lane = thread % width
    return tile[thread - lane + source(lane, width)].load()


def shfl_sync(value: Any, srcLane: Any, width: int = 32, mask: Any = None) -> Any:
    """The value of lane `srcLane` of the thread's group of `width` lanes.

    Example:
        x = T.alloc_local((1,), "float32")
        x[0] = A[0, tx % 64]
        y = T.shfl_sync(x[0], 0)  # of lane 0
        if tx < 64:
            B[0, tx] = y
    """
    return _shuffle("T.shfl_sync", value, width, lambda lane, size: srcLane % size)


def shfl_xor(value: Any, delta: Any, width: int = 32, mask: Any = None) -> Any:
    """The value of the lane whose number differs in the bits of `delta`.

    Example:
        x = T.alloc_local((1,), "float32")
        x[0] = A[0, tx % 64]
        y = T.shfl_xor(x[0], 1)
        if tx < 64:
            B[0, tx] = y
    """
    return _shuffle("T.shfl_xor", value, width, lambda lane, size: (lane ^ delta) % size)


def shfl_down(value: Any, delta: Any, width: int = 32, mask: Any = None) -> Any:
    """The value of the lane `delta` further on; its own at the end of the group.

    Example:
        x = T.alloc_local((1,), "float32")
        x[0] = A[0, tx % 64]
        y = T.shfl_down(x[0], 1)
        if tx < 64:
            B[0, tx] = y
    """
    return _shuffle(
        "T.shfl_down", value, width,
        lambda lane, size: scalars.if_then_else(lane + delta < size, lane + delta, lane),
    )  # fmt: skip


def shfl_up(value: Any, delta: Any, width: int = 32, mask: Any = None) -> Any:
    """The value of the lane `delta` before; its own at the start of the group.

    Example:
        x = T.alloc_local((1,), "float32")
        x[0] = A[0, tx % 64]
        y = T.shfl_up(x[0], 1)
        if tx < 64:
            B[0, tx] = y
    """
    return _shuffle(
        "T.shfl_up", value, width,
        lambda lane, size: scalars.if_then_else(lane >= delta, lane - delta, lane),
    )  # fmt: skip


def tvm_warp_shuffle(mask: Any, value: Any, lane: Any, width: int, warp_size: int = 32) -> Any:
    """`T.shfl_sync` with the arguments of TVM.

    Example:
        x = T.alloc_local((1,), "float32")
        x[0] = A[0, tx % 64]
        y = T.tvm_warp_shuffle(0xFFFFFFFF, x[0], 0, 32)
        if tx < 64:
            B[0, tx] = y
    """
    return shfl_sync(value, lane, width)


def tvm_warp_shuffle_up(mask: Any, value: Any, delta: Any, width: int, warp_size: int = 32) -> Any:
    """`T.shfl_up` with the arguments of TVM.

    Example:
        x = T.alloc_local((1,), "float32")
        x[0] = A[0, tx % 64]
        y = T.tvm_warp_shuffle_up(0xFFFFFFFF, x[0], 1, 32)
        if tx < 64:
            B[0, tx] = y
    """
    return shfl_up(value, delta, width)


def tvm_warp_shuffle_down(
    mask: Any, value: Any, delta: Any, width: int, warp_size: int = 32
) -> Any:
    """`T.shfl_down` with the arguments of TVM.

    Example:
        x = T.alloc_local((1,), "float32")
        x[0] = A[0, tx % 64]
        y = T.tvm_warp_shuffle_down(0xFFFFFFFF, x[0], 1, 32)
        if tx < 64:
            B[0, tx] = y
    """
    return shfl_down(value, delta, width)


def _reduce(what: str, value: Any, combine: Callable[[Any, Any], Any]) -> Any:
    """Combines the values of a warp; all of its lanes have the result."""
    state = _in_kernel(what)
    threads = prod(state.threads)
    if threads % WARP_SIZE != 0:
        raise LanguageError(f"'{what}' needs whole warps, the block has {threads} threads")
    for step in (16, 8, 4, 2, 1):
        value = combine(value, shfl_xor(value, step))
    return value


def warp_reduce_sum(value: Any) -> Any:
    """The sum of the values of a warp, halves first.

    Example:
        x = T.alloc_local((1,), "float32")
        x[0] = A[0, tx % 64]
        y = T.warp_reduce_sum(x[0])
        if tx < 64:
            B[0, tx] = y
    """
    return _reduce("T.warp_reduce_sum", value, lambda a, b: a + b)


def warp_reduce_max(value: Any) -> Any:
    """The greatest of the values of a warp.

    Example:
        x = T.alloc_local((1,), "float32")
        x[0] = A[0, tx % 64]
        y = T.warp_reduce_max(x[0])
        if tx < 64:
            B[0, tx] = y
    """
    return _reduce("T.warp_reduce_max", value, scalars.max)


def warp_reduce_min(value: Any) -> Any:
    """The least of the values of a warp.

    Example:
        x = T.alloc_local((1,), "float32")
        x[0] = A[0, tx % 64]
        y = T.warp_reduce_min(x[0])
        if tx < 64:
            B[0, tx] = y
    """
    return _reduce("T.warp_reduce_min", value, scalars.min)


def warp_reduce_bitand(value: Any) -> Any:
    """The bitwise and of the values of a warp.

    Example:
        x = T.alloc_local((1,), "int32")
        x[0] = N[0, tx % 64]
        y = T.warp_reduce_bitand(x[0])
        if tx < 64:
            M[0, tx] = y
    """
    return _reduce("T.warp_reduce_bitand", value, lambda a, b: a & b)


def warp_reduce_bitor(value: Any) -> Any:
    """The bitwise or of the values of a warp.

    Example:
        x = T.alloc_local((1,), "int32")
        x[0] = N[0, tx % 64]
        y = T.warp_reduce_bitor(x[0])
        if tx < 64:
            M[0, tx] = y
    """
    return _reduce("T.warp_reduce_bitor", value, lambda a, b: a | b)
