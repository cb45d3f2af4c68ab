"""`T.ClusterKernel` starts its blocks in clusters on GPUs that have them, and means the same on all
engines."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright.ptxas import assemble, find_ptxas


def scaled(grid, cluster, rows=32):
    """Block (x, y) copies its tile, scaled by one more than its rank in the cluster."""

    @T.prim_func
    def main(A: T.Tensor((rows, 64), "float32"), B: T.Tensor((rows, 64), "float32")):
        with T.ClusterKernel(*grid, cluster_dims=cluster, threads=64) as (bx, by):
            tile = T.alloc_shared((8, 32), "float32")
            T.copy(A[bx * 8, by * 32], tile)
            T.cluster_sync()
            for i, j in T.Parallel(8, 32):
                B[bx * 8 + i, by * 32 + j] = tile[i, j] * (T.block_rank_in_cluster() + 1)

    return main


def check(kernel, cluster, rows=32):
    a = np.random.default_rng(1).integers(-4, 5, (rows, 64)).astype(np.float32)
    b = np.zeros_like(a)
    kernel(a, b)
    i, j = np.indices(a.shape)
    rank = i // 8 % cluster[0] + j // 32 % cluster[1] * cluster[0]
    np.testing.assert_array_equal(b, a * (rank + 1))


@pytest.mark.parametrize("mode", ["", "late"])
@pytest.mark.parametrize("cluster", [(2, 1), (1, 2), (4, 2), (2, 2)])
def test_blocks_start_in_clusters(cluster, mode, monkeypatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", mode)
    kernel = tilewright.compile(scaled((4, 2), cluster), device="vgpu:sm_90a")
    check(kernel, cluster)
    assert f".reqnctapercluster {cluster[0]}, {cluster[1]}, 1" in kernel.ptx
    assert "cp.async.bulk" in kernel.ptx
    assert not kernel.findings
    if find_ptxas():
        assemble(kernel.ptx, "sm_90a")


@pytest.mark.parametrize("device", ["vgpu:sm_80", "cpu", "interp"])
def test_engines_without_clusters(device: str) -> None:
    kernel = tilewright.compile(scaled((4, 2), (2, 2)), device=device)
    check(kernel, (2, 2))
    if device.startswith("vgpu"):
        assert "nctapercluster" not in kernel.ptx


def test_a_cluster_of_one_block_is_none() -> None:
    kernel = tilewright.compile(scaled((4, 2), (1, 1)), device="vgpu:sm_90a")
    check(kernel, (1, 1))
    assert "reqnctapercluster" not in kernel.ptx


def test_more_blocks_than_every_gpu_takes_start_alone() -> None:
    kernel = tilewright.compile(scaled((16, 2), (8, 2), rows=128), device="vgpu:sm_90a")
    check(kernel, (8, 2), rows=128)
    assert "reqnctapercluster" not in kernel.ptx
    assert any("it has 16 blocks, and every GPU takes 8" in str(r) for r in kernel.remarks)


def test_a_grid_of_run_time_extents_starts_without_clusters() -> None:
    rows = T.dynamic("rows")

    @T.prim_func
    def main(A: T.Tensor((rows, 64), "float32")):
        with T.ClusterKernel(rows, cluster_dims=2, threads=64) as bx:
            for i in T.Parallel(64):
                A[bx, i] = T.block_rank_in_cluster()

    kernel = tilewright.compile(main, device="vgpu:sm_90a")
    a = np.zeros((3, 64), np.float32)
    kernel(a)
    np.testing.assert_array_equal(a[:, 0], [0, 1, 0])
    assert any("the grid is not known to be a multiple" in str(r) for r in kernel.remarks)


def test_a_cluster_of_more_dimensions_than_the_grid() -> None:
    with pytest.raises(tilewright.TilewrightError) as error:

        @T.prim_func
        def main(A: T.Tensor((4,), "float32")):
            with T.ClusterKernel(4, cluster_dims=(2, 2), threads=32) as bx:
                A[bx] = 1.0

        tilewright.compile(main, device="interp")
    assert "grid extent 1 of T.ClusterKernel is 1, not a multiple" in str(error.value)


def gemm(grid, cluster, k, tile=64, stages=3, threads=128, swizzle=False):
    """Blocks in a row read the same rows of A, blocks in a column the same columns of B."""
    columns, rows = grid

    @T.prim_func
    def main(
        A: T.Tensor((rows * tile, k), "float16"),
        B: T.Tensor((k, columns * tile), "float16"),
        C: T.Tensor((rows * tile, columns * tile), "float32"),
    ):
        with T.ClusterKernel(columns, rows, cluster_dims=cluster, threads=threads) as (bx, by):
            if swizzle:
                T.use_swizzle(2)
            a = T.alloc_shared((tile, 64), "float16")
            b = T.alloc_shared((64, tile), "float16")
            c = T.alloc_fragment((tile, tile), "float32")
            T.clear(c)
            for step in T.Pipelined(T.ceildiv(k, 64), num_stages=stages):
                T.copy(A[by * tile, step * 64], a)
                T.copy(B[step * 64, bx * tile], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * tile, bx * tile])

    return main


def multiply(kernel, grid, k, tile=64):
    rng = np.random.default_rng(k)
    a = rng.integers(-3, 4, (grid[1] * tile, k)).astype(np.float16)
    b = rng.integers(-3, 4, (k, grid[0] * tile)).astype(np.float16)
    c = np.full((grid[1] * tile, grid[0] * tile), np.nan, np.float32)
    kernel(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    assert not kernel.findings


def messages(kernel) -> str:
    return "\n".join(str(remark) for remark in kernel.remarks)


@pytest.mark.parametrize("mode", ["", "late"])
@pytest.mark.parametrize(
    ("cluster", "shared", "arrivals"),
    [((2, 1), "a", 8), ((1, 2), "b", 8), ((2, 2), "ab", 16), ((4, 2), "ab", 32)],
)
def test_one_block_copies_for_all(cluster, shared, arrivals, mode, monkeypatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", mode)
    grid = (4, 4)
    kernel = tilewright.compile(gemm(grid, cluster, 512), device="vgpu:sm_90a")
    multiply(kernel, grid, 512)
    assert kernel.ptx.count(".multicast::cluster") == 8 * len(shared)  # the loop is written out
    said = messages(kernel)
    for tile in "ab":
        own = f"{tile}: each block of the cluster copies its own"
        blocks = cluster["ab".index(tile)]
        one = f"{tile}: one of {blocks} blocks copies it for all of them (multicast)"
        assert (one if tile in shared else own) in said
    assert f"arrivals [{arrivals}, {arrivals}, {arrivals}]" in kernel.ir("tile-share-copies")
    assert kernel.ptx.count("barrier.cluster.wait") == 2
    if find_ptxas():
        assemble(kernel.ptx, "sm_90a")


@pytest.mark.parametrize("mode", ["", "late"])
@pytest.mark.parametrize("trips", [1, 2, 3, 5])
@pytest.mark.parametrize("stages", [2, 4])
def test_few_iterations_and_ragged_rows(trips, stages, mode, monkeypatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", mode)
    k = 64 * trips - 24
    kernel = tilewright.compile(gemm((2, 2), (2, 2), k, stages=stages), device="vgpu:sm_90a")
    multiply(kernel, (2, 2), k)
    assert (".multicast::cluster" in kernel.ptx) == (trips > 1)


@pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80", "vgpu:sm_120"])
def test_the_same_product_elsewhere(device: str) -> None:
    kernel = tilewright.compile(gemm((2, 2), (2, 1), 256), device=device)
    multiply(kernel, (2, 2), 256)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_schedule_of_a_cluster_is_interpreted(order: int) -> None:
    kernel = tilewright.compile(gemm((2, 2), (2, 1), 256), device="interp")
    kernel.options.update(schedule="sm_90a", thread_order=order)
    multiply(kernel, (2, 2), 256)


def test_renumbered_blocks_share_nothing() -> None:
    kernel = tilewright.compile(gemm((4, 4), (2, 1), 256, swizzle=True), device="vgpu:sm_90a")
    multiply(kernel, (4, 4), 256)
    assert ".multicast" not in kernel.ptx and ".reqnctapercluster" in kernel.ptx
    assert "copy nothing for each other: T.use_swizzle renumbers the blocks" in messages(kernel)


@pytest.mark.parametrize("mode", ["", "late"])
def test_iterations_that_depend_on_the_block(mode, monkeypatch) -> None:
    """Causal attention: a block reads as many tiles as its rows need, so the blocks of a row of
    the grid share nothing along x; heads of a group share keys along y."""
    monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", mode)
    rows, heads = 256, 4

    @T.prim_func
    def main(
        Q: T.Tensor((heads, rows, 64), "float16"),
        K: T.Tensor((rows, 64), "float16"),
        O: T.Tensor((heads, rows, 64), "float32"),
    ):
        with T.ClusterKernel(rows // 64, heads, cluster_dims=(2, 2), threads=128) as (bx, by):
            q = T.alloc_shared((64, 64), "float16")
            key = T.alloc_shared((64, 64), "float16")
            score = T.alloc_fragment((64, 64), "float32")
            total = T.alloc_fragment((64, 64), "float32")
            T.copy(Q[by, bx * 64, 0], q)
            T.clear(total)
            for step in T.Pipelined(bx + 1, num_stages=2):
                T.copy(K[step * 64, 0], key)
                T.gemm(q, key, score, transpose_B=True, clear_accum=True)
                for i, j in T.Parallel(64, 64):
                    total[i, j] += score[i, j]
            T.copy(total, O[by, bx * 64, 0])

    kernel = tilewright.compile(main, device="vgpu:sm_90a")
    rng = np.random.default_rng(3)
    q = rng.integers(-2, 3, (heads, rows, 64)).astype(np.float16)
    k = rng.integers(-2, 3, (rows, 64)).astype(np.float16)
    o = np.full((heads, rows, 64), np.nan, np.float32)
    kernel(q, k, o)
    scores = q.astype(np.float32) @ k.astype(np.float32).T
    for block in range(rows // 64):
        expected = sum(scores[:, block * 64 : block * 64 + 64, s * 64 : s * 64 + 64]
                       for s in range(block + 1))  # fmt: skip
        np.testing.assert_array_equal(o[:, block * 64 : block * 64 + 64], expected)
    assert not kernel.findings
    assert "key: one of 2 blocks copies it for all of them (multicast)" in messages(kernel)


@pytest.mark.parametrize("mode", ["", "late"])
def test_iterations_that_depend_on_the_rank_without_a_producer(mode, monkeypatch) -> None:
    """The copies in front of such a loop exist in some blocks only: none may wait for them."""
    monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", mode)
    counts = np.array([3, 0, 4, 1], np.int32)

    @T.prim_func
    def main(
        N: T.Tensor((4,), "int32"), A: T.Tensor((8, 256), "float16"), B: T.Tensor((4, 8), "float16")
    ):
        with T.ClusterKernel(4, cluster_dims=4, threads=128) as bx:
            a = T.alloc_shared((8, 64), "float16")
            c = T.alloc_fragment((8,), "float16")
            T.clear(c)
            for k in T.Pipelined(N[T.block_rank_in_cluster()], num_stages=3):
                T.copy(A[0, k * 64], a)
                T.reduce_max(a, c, dim=1, clear=False)
            T.copy(c, B[bx, :])

    a = np.random.default_rng(3).integers(0, 99, (8, 256)).astype(np.float16)
    b = np.zeros((4, 8), np.float16)
    kernel = tilewright.compile(main, device="vgpu:sm_90a")
    kernel(counts, a, b)
    want = [a[:, : 64 * n].max(1) if n else np.zeros(8) for n in counts]
    np.testing.assert_array_equal(b, want)
    assert not kernel.findings
    assert "multicast" not in kernel.ptx


def test_a_remark_says_what_shared_copies_save() -> None:
    """Copies limit this loop, and half of A is saved (share-copies.mlir has what is not shared)."""
    kernel = tilewright.compile(gemm((4, 4), (2, 1), 512, 128, threads=256), target="sm_90a")
    assert kernel.ptx
    a, b = (remark for remark in kernel.remarks if remark.kind == "cluster")
    assert a.data["cycles"] == a.data["shared"] < a.data["alone"]
    assert f"{a.data['cycles']} cycles an iteration, {a.data['alone']} if each copied" in str(a)
    assert "copies" in a.data["critical"]
    assert "cycles" not in b.data
    (schedule,) = (remark for remark in kernel.remarks if "as_written" in remark.data)
    assert schedule.data["as_written"] == a.data["cycles"]
