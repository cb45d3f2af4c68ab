"""Clusters of blocks: `T.ClusterKernel`, and the order in which persistent blocks visit tiles.

Blocks of a cluster are independent like all others, until one reaches into the shared memory of
another (`T.copy_cluster(…, dst_block=…)`, `T.mbarrier_arrive(…, cta_id)`). Then those of each
cluster run as one block, with a role for each of them (lib/Frontend/Clusters.h).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tilewright.frontend import trace
from tilewright.frontend.loops import truth
from tilewright.frontend.trace import is_kernel_value, plain
from tilewright.language import scalars
from tilewright.language.kernel import Kernel, _in_kernel
from tilewright.language.threads import _meet
from tilewright.language.tiles import copy, require_tile
from tilewright.runtime.device import multiprocessors
from tilewright.support.errors import LanguageError


class ClusterKernel(Kernel):
    """`with T.ClusterKernel(*grid, cluster_dims=2, threads=128) as bx:` is a `T.Kernel` whose
    blocks form clusters of `cluster_dims`. GPUs that have clusters (sm_90 and later) start them
    together, where the extents of the grid are constants.

    Example:
        with T.ClusterKernel(4, cluster_dims=2, threads=128) as bx:
            for i in T.Parallel(16):
                B[bx, i] = A[bx, i]
    """

    def __init__(
        self, *grid: Any, cluster_dims: Any, threads: Any = 128, prelude: str | None = None
    ) -> None:
        super().__init__(*grid, threads=threads, prelude=prelude)
        dims = list(cluster_dims) if isinstance(cluster_dims, list | tuple) else [cluster_dims]
        if not 1 <= len(dims) <= 3 or not all(type(dim) is int and dim > 0 for dim in dims):
            raise LanguageError(
                f"cluster_dims of T.ClusterKernel: 1 to 3 positive integers, got {cluster_dims!r}"
            )
        grid = [*self._grid, 1, 1]
        for number, (extent, dim) in enumerate(zip(grid, dims, strict=False)):
            if not is_kernel_value(extent) and extent % dim:
                raise LanguageError(
                    f"grid extent {number} of T.ClusterKernel is {extent}, not a multiple of the "
                    f"cluster's {dim}"
                )
        self._cluster = dims

    def __enter__(self) -> Any:
        blocks = super().__enter__()
        state = trace.require("T.ClusterKernel")
        state.cluster = self._cluster
        state.core.hint("cluster", [], dict(zip("xyz", [*self._cluster, 1, 1], strict=False)))
        state.core.cluster_begin(self._cluster)
        self._region.after.append(state.core.cluster_end)
        return blocks


def block_rank_in_cluster() -> Any:
    """The number of the block in its cluster, the first dimension first; 0 without clusters.

    Example:
        with T.ClusterKernel(4, cluster_dims=2, threads=128) as bx:
            B[bx, 0] = T.block_rank_in_cluster()
    """
    state = _in_kernel("T.block_rank_in_cluster")
    rank: Any = 0
    below = 1
    for block, dim in zip(state.blocks, state.cluster, strict=False):
        if dim > 1:
            rank = rank + block % dim * below
        below *= dim
    return rank


def cluster_arrive() -> None:
    """The threads of the block arrive where those of the whole cluster meet; `T.cluster_wait` waits
    for all. It adds nothing where blocks of the cluster do not reach each other's shared memory.

    Example:
        with T.ClusterKernel(4, cluster_dims=2, threads=128) as bx:
            B[bx, 0] = 1.0
            T.cluster_arrive()
    """
    _meet("T.cluster_arrive")
    _in_kernel("T.cluster_arrive").core.cluster_arrive()


def cluster_arrive_relaxed() -> None:
    """As `T.cluster_arrive`.

    Example:
        with T.ClusterKernel(4, cluster_dims=2, threads=128) as bx:
            B[bx, 0] = 1.0
            T.cluster_arrive_relaxed()
    """
    _meet("T.cluster_arrive_relaxed")
    _in_kernel("T.cluster_arrive_relaxed").core.cluster_arrive()


def cluster_wait() -> None:
    """Waits until all threads of the cluster have come to their `T.cluster_arrive`.

    Example:
        with T.ClusterKernel(4, cluster_dims=2, threads=128) as bx:
            B[bx, 0] = 1.0
            T.cluster_wait()
    """
    _meet("T.cluster_wait")
    _in_kernel("T.cluster_wait").core.cluster_wait()


def cluster_sync() -> None:
    """All threads of the cluster meet: `T.cluster_arrive`, then `T.cluster_wait`.

    Example:
        with T.ClusterKernel(4, cluster_dims=2, threads=128) as bx:
            B[bx, 0] = 1.0
            T.cluster_sync()
    """
    _meet("T.cluster_sync")
    core = _in_kernel("T.cluster_sync").core
    core.cluster_arrive()
    core.cluster_wait()


def for_block(rank: Any, what: str, name: str, build: Callable[[int], None]) -> None:
    """Builds what is done to the block `rank` of the cluster; to each of them, where only the run
    knows which."""
    state = _in_kernel(what)
    count = math.prod(state.cluster)
    if count == 1:
        raise LanguageError(
            f"'{what}': {name} names a block of a cluster, and this kernel has none",
            hint="T.ClusterKernel(…, cluster_dims=…) makes clusters",
        )
    if state.meets_grid:
        raise LanguageError(f"'{what}' at another block in a kernel with 'T.sync_grid'")
    if state.named_barriers is not None:
        raise LanguageError(
            f"'{what}' at another block in a kernel with barriers by number",
            hint="use T.alloc_barrier",
        )
    state.reaches_blocks = True
    rank = plain(rank)
    if not is_kernel_value(rank):
        if isinstance(rank, bool) or not isinstance(rank, int) or not 0 <= rank < count:
            raise LanguageError(
                f"'{what}': {name} is the rank of a block in its cluster, 0 to {count - 1}, "
                f"got {rank!r}"
            )
        build(rank)
        return
    for number in range(count):
        region = state.open("if")
        state.core.if_begin(truth(state, rank == number))
        build(number)
        state.close(region)


def arrive_at(mbarrier: Any, rank: int, what: str, once: bool = False) -> None:
    """Arrives at the barrier of another block of the cluster."""
    from tilewright.language.barriers import element_of

    _in_kernel(what).core.arrive_at_block(element_of(mbarrier, what), rank, once)


def _blocks_of_mask(state: trace.TraceState, mask: Any) -> list[tuple[Any, Any]]:
    """For each number of the block that a cluster counts along, that of the block whose copy this
    one gets: of the first block of the mask, or its own."""
    count = math.prod(state.cluster)
    if isinstance(mask, bool) or not isinstance(mask, int) or not 0 < mask < 1 << count:
        raise LanguageError(
            f"cluster_mask has a bit for each block of a cluster: expected 1 to {(1 << count) - 1} "
            f"in a cluster of {count}, got {mask!r}",
            hint="T.ClusterKernel(…, cluster_dims=…) makes clusters",
        )
    ranks = [rank for rank in range(count) if mask >> rank & 1]
    outside: Any = 0  # 1 in blocks without a bit: all distances from those with one are positive
    if len(ranks) < count:
        own = block_rank_in_cluster()
        outside = 1
        for rank in ranks:
            outside = scalars.min(outside, scalars.max(own - rank, rank - own))
    pairs, first = [], ranks[0]
    for block, extent in zip(state.blocks, state.cluster, strict=False):
        if extent > 1:
            start = first % extent
            theirs = block // extent * extent + start
            pairs.append((block, theirs + (block % extent - start) * outside))
        first //= extent
    return pairs


def copy_cluster(
    src: Any,
    dst: Any,
    *,
    dst_block: Any = None,
    cluster_mask: int | None = None,
    remote_barrier: Any = None,
    eviction_policy: str | None = None,
    coalesced_width: int | None = None,
    annotations: dict[str, Any] | None = None,
    loop_layout: Any = None,
) -> None:
    """`T.copy` from a tensor to a shared tile that blocks of a cluster have in common: those with a
    bit in `cluster_mask` copy what the first of them copies, the others their own. One block then
    does it for all (multicast), where the GPU has clusters.

    With `dst_block`, a copy to the tile `dst` of that block of the cluster; one arrival at its
    barrier `remote_barrier` says that the tile is there.

    Example:
        with T.ClusterKernel(4, cluster_dims=2, threads=128) as bx:
            x = T.alloc_shared((8, 64), "float32")
            T.copy_cluster(A[bx * 8, 0], x, cluster_mask=0b11)
            T.copy(x, B[bx * 8, 0])
    """
    state = _in_kernel("T.copy_cluster")
    if dst_block is not None:
        if cluster_mask is not None:
            raise LanguageError("'T.copy_cluster': dst_block and cluster_mask exclude each other")
        require_tile(src, "T.copy_cluster", "the source", element=True)
        require_tile(dst, "T.copy_cluster", "the destination", element=True)

        def send(rank: int) -> None:
            state.core.copy_to_block(src, dst, rank)
            if remote_barrier is not None:
                arrive_at(remote_barrier, rank, "T.copy_cluster", once=True)

        for_block(dst_block, "T.copy_cluster", "dst_block", send)
        return
    if remote_barrier is not None:
        raise LanguageError("'T.copy_cluster': remote_barrier needs dst_block")
    if cluster_mask is None:
        copy(src, dst, eviction_policy=eviction_policy, coalesced_width=coalesced_width,
             loop_layout=loop_layout)  # fmt: skip
        return
    require_tile(src, "T.copy_cluster", "the source", element=True)
    require_tile(dst, "T.copy_cluster", "the destination", element=True)
    pairs = _blocks_of_mask(state, cluster_mask)
    state.core.copy_of_block(src, dst, pairs, {"cluster_mask": cluster_mask})


class PersistentTileScheduler:
    """The tiles that one of `num_workers` persistent blocks visits, of a grid of tiles.

        sched = T.PersistentTileScheduler(m_tiles, n_tiles, num_workers, swizzle_size=8)
        sched.init(block)
        while sched.valid():
            bx, by = sched.m_idx, sched.n_idx
            …
            sched.next_tile()

    Tiles are counted column by column (`column_major`) or row by row, in panels of `swizzle_size`.
    With `cluster_size`, `m_idx` counts rows of clusters. `stateful=False` leaves `coord(tile)`.

    Example:
        with T.Kernel(3, threads=64) as block:
            tiles = T.PersistentTileScheduler(4, 4, 3)
            tiles.init(block)
            while tiles.valid():
                B[tiles.m_idx, tiles.n_idx] = A[tiles.m_idx, tiles.n_idx]
                tiles.next_tile()
    """

    def __init__(
        self,
        num_m_tiles: Any,
        num_n_tiles: Any,
        num_workers: Any = None,
        swizzle_size: int = 1,
        column_major: bool = True,
        cluster_size: int = 1,
        stateful: bool = True,
        name: str | None = None,
    ) -> None:
        state = _in_kernel("T.PersistentTileScheduler")
        sizes = {
            "num_workers": num_workers,
            "swizzle_size": swizzle_size,
            "cluster_size": cluster_size,
        }
        for size, value in sizes.items():
            if isinstance(value, int | float) and (isinstance(value, bool | float) or value < 1):
                raise LanguageError(
                    f"{size} of T.PersistentTileScheduler is a positive integer, got {value!r}"
                )
        if num_workers is None:
            num_workers = max(1, multiprocessors() // cluster_size)
        self.num_workers, self.swizzle_size = num_workers, swizzle_size
        self.cluster_size = cluster_size
        rows = scalars.ceildiv(num_m_tiles, cluster_size)
        self._total = rows * num_n_tiles
        self._is_column_major = column_major
        self._fast, self._slow = (rows, num_n_tiles) if column_major else (num_n_tiles, rows)
        self._variables: dict[str, Any] = {}
        if stateful:
            for part in ("m_idx", "n_idx", "linear_idx", "current_iter"):
                text = part if name is None else f"{name}_{part}"
                self._variables[part] = state.core.alloc_var("int32", None, text)

    def _variable(self, part: str) -> Any:
        if part not in self._variables:
            raise LanguageError(
                "this T.PersistentTileScheduler has no state (stateful=False)",
                hint="use coord(tile)",
            )
        return self._variables[part]

    m_idx = property(lambda self: self._variable("m_idx").load(), doc="The row of the tile.")
    n_idx = property(lambda self: self._variable("n_idx").load(), doc="The column of the tile.")
    linear_idx = property(lambda self: self._variable("linear_idx").load(), doc="Its number.")
    current_iter = property(
        lambda self: self._variable("current_iter").load(), doc="How many tiles came before."
    )

    def coord(self, tile_id: Any) -> tuple[Any, Any]:
        """The row and the column of the tile of this number."""
        panel = self._fast * self.swizzle_size
        first = tile_id // panel * self.swizzle_size
        width = scalars.max(1, scalars.min(self.swizzle_size, self._slow - first))
        inside = tile_id % panel
        fast, slow = inside // width, first + inside % width
        return (fast, slow) if self._is_column_major else (slow, fast)

    def _move_to(self, number: Any, count: Any) -> None:
        self._variable("linear_idx").store(number)
        self._variable("current_iter").store(count)
        row, column = self.coord(self.linear_idx)
        self._variable("m_idx").store(row)
        self._variable("n_idx").store(column)

    def init(self, worker_id: Any) -> None:
        """Begins with the first tile of a worker."""
        self._move_to(worker_id, 0)

    def next_tile(self) -> None:
        """Goes on to the next tile of the worker."""
        self._move_to(self.linear_idx + self.num_workers, self.current_iter + 1)

    def valid(self) -> Any:
        """Whether there is a tile left."""
        return self.linear_idx < self._total
