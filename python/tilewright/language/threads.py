"""Threads by name: their indices, their warps, and where they meet.

A kernel that names its threads means what any kernel means: one statement after another. A
statement that differs between threads is done by all of them before the next one begins, so that
no explicit barrier is ever needed (docs/semantics.md, "Programs that name their threads").
"""

from __future__ import annotations

from math import prod
from typing import Any

from tilewright.frontend import trace
from tilewright.frontend.trace import is_kernel_value
from tilewright.language.kernel import _in_kernel
from tilewright.support.errors import LanguageError

#: The lanes of a warp.
WARP_SIZE = 32
_WARPS_OF_A_GROUP = 4
_DIMS = {"x": 0, "y": 1, "z": 2}


def get_thread_binding(dim: int = 0) -> Any:
    """Where the thread that runs this stands in dimension `dim` of the block's threads.

    Example:
        tx = T.get_thread_binding()
        if tx < 64:
            B[0, tx] = A[0, tx]
    """
    state = _in_kernel("T.get_thread_binding")
    if is_kernel_value(dim) or not isinstance(dim, int):
        raise LanguageError(f"'T.get_thread_binding': dim must be a Python integer, got {dim!r}")
    if not 0 <= dim < 3:
        raise LanguageError(f"'T.get_thread_binding': dim is 0, 1 or 2, got {dim}")
    if dim >= len(state.threads) or state.threads[dim] == 1:
        return 0  # of one thread nothing differs: statements are the block's
    index = state.core.thread_index(dim)
    state.thread_indices.append((index, dim))
    return index


def get_thread_bindings() -> list[Any]:
    """The indices of the thread in all three dimensions.

    Example:
        tx, ty, tz = T.get_thread_bindings()
        if tx < 64:
            B[0, tx] = A[0, tx]
    """
    return [get_thread_binding(dim) for dim in range(3)]


def get_thread_extent(dim: int = 0) -> int:
    """How many threads the block has in dimension `dim`.

    Example:
        B[0, 0] = T.get_thread_extent()
    """
    threads = _in_kernel("T.get_thread_extent").threads
    return threads[dim] if dim < len(threads) else 1


def get_thread_extents() -> list[int]:
    """How many threads the block has in each of the three dimensions.

    Example:
        x, y, z = T.get_thread_extents()
        B[0, 0] = x
    """
    return [get_thread_extent(dim) for dim in range(3)]


def get_block_binding(dim: int = 0) -> Any:
    """The index of the block in dimension `dim` of the grid.

    Example:
        B[0, 0] = T.get_block_binding()
    """
    blocks = _in_kernel("T.get_block_binding").blocks
    return blocks[dim] if dim < len(blocks) else 0


def get_block_bindings() -> list[Any]:
    """The indices of the block in all three dimensions.

    Example:
        x, y, z = T.get_block_bindings()
        B[0, 0] = x
    """
    return [get_block_binding(dim) for dim in range(3)]


def get_block_extent(dim: int = 0) -> Any:
    """How many blocks the grid has in dimension `dim`.

    Example:
        B[0, 0] = T.get_block_extent()
    """
    grid = _in_kernel("T.get_block_extent").grid
    return grid[dim] if dim < len(grid) else 1


def get_block_extents() -> list[Any]:
    """How many blocks the grid has in each of the three dimensions.

    Example:
        x, y, z = T.get_block_extents()
        B[0, 0] = x
    """
    return [get_block_extent(dim) for dim in range(3)]


def thread_binding(
    start: Any, stop: Any = None, thread: str | None = None, *, annotations: Any = None
) -> Any:
    """`T.thread_binding(0, n, thread="threadIdx.x")`: the index of the thread, or of the block.

    The range must be that of the block's threads (of the grid): a launch has one shape.

    Example:
        tid = T.thread_binding(0, 128, thread="threadIdx.x")
        if tid < 64:
            B[0, tid] = A[0, tid]
    """
    state = _in_kernel("T.thread_binding")
    if thread is None:  # (n, "threadIdx.x")
        stop, thread = None, stop
    if stop is None:
        start, stop = 0, start
    kind, _, letter = str(thread).partition(".")
    if kind not in ("threadIdx", "blockIdx") or letter not in _DIMS:
        raise LanguageError(
            f"'T.thread_binding': thread is 'threadIdx.x' or 'blockIdx.x' (y, z), got {thread!r}"
        )
    dim = _DIMS[letter]
    if kind == "blockIdx":
        return get_block_binding(dim) + start
    extent = state.threads[dim] if dim < len(state.threads) else 1
    if is_kernel_value(start) or is_kernel_value(stop) or stop - start != extent:
        raise LanguageError(
            f"'T.thread_binding' over {stop - start} of '{thread}': the block has {extent} there",
            hint=f"open the kernel with threads={stop - start}",
        )
    return get_thread_binding(dim) + start


# ---- Warps ----


def linear_thread(what: str) -> Any:
    """The number of the thread in its block, as warps count: x first."""
    state = _in_kernel(what)
    number: Any = 0
    below = 1
    for dim, extent in enumerate(state.threads):
        if extent > 1:
            number = number + state.core.thread_index(dim) * below
        below *= extent
    return number


def get_lane_idx(warp_size: int | None = None) -> Any:
    """The number of the thread in its warp.

    Example:
        if tx < 64:
            B[0, tx] = T.get_lane_idx()
    """
    return linear_thread("T.get_lane_idx") % (warp_size or WARP_SIZE)


def get_warp_idx(warp_size: int | None = None) -> Any:
    """The number of the thread's warp.

    Example:
        if tx < 64:
            B[0, tx] = T.get_warp_idx()
    """
    return linear_thread("T.get_warp_idx") // (warp_size or WARP_SIZE)


def get_warp_idx_sync(warp_size: int | None = None) -> Any:
    """As `T.get_warp_idx`.

    Example:
        if tx < 64:
            B[0, tx] = T.get_warp_idx_sync()
    """
    return get_warp_idx(warp_size)


def get_warp_group_idx(warp_size: int | None = None, warps_per_group: int | None = None) -> Any:
    """The number of the thread's warp group, four warps each.

    Example:
        if tx < 64:
            B[0, tx] = T.get_warp_group_idx()
    """
    threads = (warp_size or WARP_SIZE) * (warps_per_group or _WARPS_OF_A_GROUP)
    return linear_thread("T.get_warp_group_idx") // threads


class ws:  # noqa: N801 - the language calls it `T.ws`
    """`with T.ws(0):` what stands inside is done by the warp groups with these numbers.

    Warp groups follow the text: a group's statements begin when those in front of them, of any
    group, are through, or wait at a barrier (`T.barrier_wait`).

    Example:
        with T.Kernel(1, threads=256):
            x = T.alloc_shared((64, 64), "float32")
            ready = T.alloc_barrier(128)
            with T.ws(1):
                T.copy(A, x)
                T.barrier_arrive(ready)
            with T.ws(0):
                T.barrier_wait(ready, 0)
                T.copy(x, B)
    """

    def __init__(self, *groups: int) -> None:
        state = _in_kernel("T.ws")
        threads = prod(state.threads)
        size = WARP_SIZE * _WARPS_OF_A_GROUP
        for group in groups:
            if isinstance(group, bool) or not isinstance(group, int):
                raise LanguageError(f"'T.ws' takes numbers of warp groups, got {group!r}")
            if not 0 <= group * size < threads:
                raise LanguageError(
                    f"'T.ws({group})': a block of {threads} threads has "
                    f"{-(-threads // size)} warp groups of {size}"
                )
        if not groups:
            raise LanguageError("'T.ws' takes the number of at least one warp group")
        self._groups = groups
        self._region: Any = None

    def __enter__(self) -> None:
        state = trace.require("T.ws")
        here = get_warp_group_idx()
        condition = here == self._groups[0]
        for group in self._groups[1:]:
            condition = condition | (here == group)
        self._region = state.open("if")
        state.core.if_begin(condition)

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if error is None:
            trace.require("T.ws").close(self._region)


# ---- Meeting ----


def _meet(what: str) -> None:
    """Statements follow one another already; only inside a loop of independent iterations there is
    nothing to meet."""
    state = _in_kernel(what)
    if state.innermost(("parallel",)) is not None:
        raise LanguageError(
            f"'{what}' inside T.Parallel: its iterations are independent and never meet",
            hint="end the loop and begin another one",
        )


def sync_warp(mask: Any = None) -> None:
    """The threads of each warp meet. Every statement ends so: it adds nothing.

    Example:
        T.sync_warp()
        for i, j in T.Parallel(64, 64):
            B[i, j] = A[i, j]
    """
    _meet("T.sync_warp")
