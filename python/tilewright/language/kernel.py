"""Kernel launches and what is said about a whole kernel."""

from __future__ import annotations

from typing import Any

from tilewright.frontend import trace
from tilewright.frontend.tile_loops import check_bound
from tilewright.frontend.trace import Buffer
from tilewright.support.errors import LanguageError

__tracebackhide__ = True  # pytest shows the user's frames

_MOST_THREADS = 1024


class Kernel:
    """`with T.Kernel(*grid, threads=128) as (bx, by):` opens one kernel launch.

    `grid` has one to three extents (ints or expressions, also of dynamic shapes); without any, the
    grid is one block. The bound names are the block's indices. `threads` is an int or up to three
    extents; it never changes values. Several kernels of one function run one after another.

    Example:
        with T.Kernel(4, 2, threads=128) as (bx, by):  # 4 x 2 blocks
            for i in T.Parallel(16):
                B[by * 32 + bx, i] = A[by * 32 + bx, i]
    """

    def __init__(self, *grid: Any, threads: Any = 128, prelude: str | None = None) -> None:
        if prelude is not None:
            raise LanguageError(
                "'prelude' (CUDA source text) is not supported: there is no CUDA text"
            )
        if len(grid) > 3:
            raise LanguageError(f"T.Kernel takes at most 3 grid extents, got {len(grid)}")
        self._grid = [self._extent(extent, n) for n, extent in enumerate(grid)] or [1]
        self._threads = self._check_threads(threads)
        self._region: Any = None

    def __iter__(self) -> Any:
        raise LanguageError(
            "T.Kernel is not a loop", hint="write 'with T.Kernel(blocks, threads=128) as bx:'"
        )

    @staticmethod
    def _extent(extent: Any, number: int) -> Any:
        extent = check_bound(extent, f"grid extent {number} of T.Kernel")
        if isinstance(extent, int) and not 0 <= extent < 2**31:
            raise LanguageError(
                f"grid extent {number} of T.Kernel must be between 0 and 2**31 - 1, got {extent}"
            )
        return extent

    @staticmethod
    def _check_threads(threads: Any) -> list[int]:
        extents = list(threads) if isinstance(threads, list | tuple) else [threads]
        total = 1
        for extent in extents:
            if isinstance(extent, bool) or not isinstance(extent, int) or extent < 1:
                raise LanguageError(
                    f"threads of T.Kernel must be positive integers, got {threads!r}"
                )
            total *= extent
        if not 1 <= len(extents) <= 3:
            raise LanguageError(f"threads of T.Kernel has 1 to 3 extents, got {len(extents)}")
        if total > _MOST_THREADS:
            raise LanguageError(f"a block has at most {_MOST_THREADS} threads, got {total}")
        return extents

    def __enter__(self) -> Any:
        state = trace.require("T.Kernel")
        if any(region.kind == "kernel" for region in state.regions):
            raise LanguageError("'T.Kernel' inside another 'T.Kernel'", hint="end the first one")
        if state.regions:
            raise LanguageError(
                "'T.Kernel' under run-time control flow: kernels are launched one after another"
            )
        if state.returned_in_kernel:
            raise LanguageError(
                "a kernel after one that has 'return' under a run-time condition: a block cannot "
                "decide whether the next kernel runs"
            )
        self._region = state.open("kernel")
        state.kernels += 1
        blocks = state.core.kernel_begin(self._grid, self._threads)
        state.threads, state.blocks, state.grid = self._threads, blocks, self._grid
        state.cluster = []
        state.meets_grid = state.reaches_blocks = False
        state.generator = state.named_barriers = state.barrier_list = None
        return blocks[0] if len(blocks) == 1 else tuple(blocks)

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if error is None:
            trace.require("T.Kernel").close(self._region)


def use_swizzle(panel_size: int, order: str = "row", enable: bool = True) -> None:
    """Visits the blocks of the grid in panels of `panel_size` for better cache use.

    `order` is "row" or "column". The grid is only permuted: results stay the same.

    Example:
        with T.Kernel(8, 8, threads=64) as (bx, by):
            T.use_swizzle(4)
            for i, j in T.Parallel(8, 8):
                B[by * 8 + i, bx * 8 + j] = A[by * 8 + i, bx * 8 + j]
    """
    state = _in_kernel("T.use_swizzle")
    if order not in ("row", "column", "col"):
        raise LanguageError(f"order of T.use_swizzle is 'row' or 'column', got {order!r}")
    if not isinstance(panel_size, int) or panel_size < 1:
        raise LanguageError(
            f"panel_size of T.use_swizzle must be a positive int, got {panel_size!r}"
        )
    if enable:
        state.core.use_swizzle(panel_size, "row" if order == "row" else "column")


def _in_kernel(what: str) -> trace.TraceState:
    state = trace.require(what)
    if state.innermost(("kernel",)) is None:
        raise LanguageError(f"'{what}' is only allowed inside 'with T.Kernel(...)'")
    return state


def sync_grid() -> None:
    """All blocks of the grid meet here: each sees what the others have written to global tensors.

    What follows is a launch of its own (tile-split-grid), so that a grid may be of any size, and
    tiles do not keep their values.

    Example:
        with T.Kernel(2, threads=64) as bx:
            for j in T.Parallel(64):
                B[bx, j] = A[bx, j]
            T.sync_grid()
            for j in T.Parallel(64):
                C[bx, j] = B[1 - bx, j]  # of the other block
    """
    state = _in_kernel("T.sync_grid")
    if len(state.regions) > 1:
        raise LanguageError(
            "'T.sync_grid' in a loop or branch is not supported",
            hint="put it between the statements of the kernel, or launch several kernels",
        )
    if state.returned_in_kernel:
        raise LanguageError("'T.sync_grid' after a 'return': not all blocks reach it")
    if state.reaches_blocks:
        raise LanguageError(
            "'T.sync_grid' in a kernel whose blocks reach into each other's shared memory"
        )
    state.meets_grid = True
    state.core.grid_sync()


# ---- Hints: recorded in the IR, free to be ignored, never a change of values ----


def disable_warp_group_reg_alloc() -> None:
    """Hint: no redistribution of registers between warp groups.

    Example:
        T.disable_warp_group_reg_alloc()
        for i, j in T.Parallel(64, 64):
            B[i, j] = A[i, j]
    """
    _in_kernel("T.disable_warp_group_reg_alloc").core.hint("disable_warp_group_reg_alloc", [], {})


def no_set_max_nreg() -> None:
    """Hint: do not change the register limit of warp groups.

    Example:
        T.no_set_max_nreg()
        for i, j in T.Parallel(64, 64):
            B[i, j] = A[i, j]
    """
    _in_kernel("T.no_set_max_nreg").core.hint("no_set_max_nreg", [], {})


def pdl_trigger() -> None:
    """Hint: the next launch may begin before this one ends. Launches follow one another.

    Example:
        T.pdl_trigger()
        for i, j in T.Parallel(64, 64):
            B[i, j] = A[i, j]
    """
    _in_kernel("T.pdl_trigger").core.hint("pdl_trigger", [], {})


def pdl_sync() -> None:
    """Hint: what follows needs the launch before, which is over.

    Example:
        T.pdl_sync()
        for i, j in T.Parallel(64, 64):
            B[i, j] = A[i, j]
    """
    _in_kernel("T.pdl_sync").core.hint("pdl_sync", [], {})


def annotate_min_blocks_per_sm(count: int) -> None:
    """Hint: at least `count` blocks should fit on a multiprocessor.

    Example:
        T.annotate_min_blocks_per_sm(2)
        T.copy(A, B)
    """
    state = _in_kernel("T.annotate_min_blocks_per_sm")
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise LanguageError(
            f"'T.annotate_min_blocks_per_sm' takes a positive number of blocks, got {count!r}"
        )
    state.core.hint("min_blocks_per_sm", [], {"count": count})


def annotate_restrict_buffers(*buffers: Buffer) -> None:
    """Hint: these tensors do not overlap others (Tilewright checks that at each call anyway).

    Example:
        T.annotate_restrict_buffers(A, B)
        T.copy(A, B)
    """
    trace.require("T.annotate_restrict_buffers").core.hint("restrict_buffers", list(buffers), {})


def annotate_l2_hit_ratio(ratios: dict[Buffer, float]) -> None:
    """Hint: the share of each tensor that should stay in the L2 cache.

    Example:
        T.annotate_l2_hit_ratio({A: 0.9})
        T.copy(A, B)
    """
    state = trace.require("T.annotate_l2_hit_ratio")
    for buffer, ratio in ratios.items():
        state.core.hint("l2_hit_ratio", [buffer], {"ratio": float(ratio)})
