"""Loops of a kernel. Each function describes a loop for a `for` statement."""

from __future__ import annotations

from typing import Any

from tilewright.frontend.tile_loops import (
    GridLoop,
    ParallelLoop,
    PersistentLoop,
    PipelinedLoop,
    SerialLoop,
    TileLoop,
)
from tilewright.support.errors import LanguageError

__tracebackhide__ = True  # pytest shows the user's frames


def Parallel(
    *extents: Any,
    coalesced_width: int | None = None,
    loop_layout: Any = None,
    prefer_async: bool | None = None,
    annotations: dict[str, Any] | None = None,
) -> TileLoop:
    """`for i, j in T.Parallel(M, N):` runs all iterations, independent of each other.

    An iteration may not read or write what another one writes (atomics excepted). Accesses to
    global tensors beyond their edges are guarded. `coalesced_width` caps the vector width and
    `loop_layout` (a `T.Fragment`) fixes which thread runs what; neither changes values.

    Example:
        for i, j in T.Parallel(64, 64):
            B[i, j] = A[i, j] * 2.0
    """
    return ParallelLoop(extents, coalesced_width, loop_layout)


def parallel(*extents: Any, annotations: dict[str, Any] | None = None) -> TileLoop:
    """TVM's name of `T.Parallel`: iterations are independent.

    Example:
        for i, j in T.parallel(64, 64):
            B[i, j] = A[i, j] * 2.0
    """
    return ParallelLoop(extents, None, None)


def Pipelined(
    start: Any,
    stop: Any = None,
    num_stages: int = 0,
    order: list[int] | None = None,
    stage: list[int] | None = None,
    sync: Any = None,
    group: Any = None,
    annotations: dict[str, Any] | None = None,
) -> TileLoop:
    """`for k in T.Pipelined(n, num_stages=2):` is a serial loop whose copies may run ahead.

    `num_stages` is the number of versions of each tile that a copy fills and a later statement
    reads. `order` and `stage` give the order and the stage of each statement by hand; those of
    groups of statements (`group`) are left to the compiler.

    Example:
        x = T.alloc_shared((16, 64), "float32")
        for k in T.Pipelined(4, num_stages=2):
            T.copy(A[k * 16, 0], x)
            T.copy(x, B[k * 16, 0])
    """
    if stop is None:
        start, stop = 0, start
    if group is not None:
        order = stage = None
    return PipelinedLoop(start, stop, num_stages, order, stage)


def serial(*bounds: Any, annotations: dict[str, Any] | None = None) -> TileLoop:
    """`for k in T.serial(start, stop, step):` is an ordinary loop, as `range` is.

    Example:
        for k in T.serial(4):
            for j in T.Parallel(64):
                B[k, j] = A[k, j]
    """
    return SerialLoop.from_bounds("T.serial", bounds)


def Serial(*bounds: Any, annotations: dict[str, Any] | None = None) -> TileLoop:
    """Another name of `T.serial`.

    Example:
        for k in T.Serial(4):
            for j in T.Parallel(64):
                B[k, j] = A[k, j]
    """
    return SerialLoop.from_bounds("T.Serial", bounds)


def unroll(
    *bounds: Any,
    explicit: bool = False,
    unroll_factor: int | None = None,
    annotations: dict[str, Any] | None = None,
) -> TileLoop:
    """`for k in T.unroll(4):` is a serial loop that the compiler should unroll.

    Example:
        for k in T.unroll(4):
            for j in T.Parallel(64):
                B[k, j] = A[k, j]
    """
    return SerialLoop.from_bounds("T.unroll", bounds, "unroll")


def Unroll(*bounds: Any, **options: Any) -> TileLoop:
    """Another name of `T.unroll`.

    Example:
        for k in T.Unroll(4):
            for j in T.Parallel(64):
                B[k, j] = A[k, j]
    """
    return unroll(*bounds, **options)


def vectorized(*bounds: Any, annotations: dict[str, Any] | None = None) -> TileLoop:
    """`for v in T.vectorized(4):` is a serial loop that the compiler should vectorise.

    Example:
        for i in T.Parallel(64):
            for k in T.vectorized(4):
                B[i, k] = A[i, k]
    """
    return SerialLoop.from_bounds("T.vectorized", bounds, "vectorized")


def grid(*extents: Any) -> TileLoop:
    """`for i, j in T.grid(M, N):` is a nest of serial loops.

    Example:
        for i, j in T.grid(4, 4):
            B[i, j] = A[i, j]
    """
    return GridLoop(extents)


def Persistent(domain: Any, wave_size: Any, index: Any, group_size: Any = 8) -> TileLoop:
    """`for i, j in T.Persistent([M, N], blocks, block):` visits the tiles of one block.

    Together the `wave_size` blocks visit each tile of `domain` exactly once; `group_size` rows of
    tiles are visited together for better cache use.

    Example:
        with T.Kernel(3, threads=64) as block:
            for i, j in T.Persistent([4, 4], 3, block):
                B[i, j] = A[i, j]
    """
    if not isinstance(domain, list | tuple) or not domain:
        raise LanguageError("T.Persistent: the domain is a list of extents")
    return PersistentLoop(domain, wave_size, index, group_size)
