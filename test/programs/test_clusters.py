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
