"""Blocks of a cluster copy to each other's tiles, and arrive at each other's barriers."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T

ENGINES = [("interp", ""), ("cpu", ""), ("vgpu:sm_80", ""), ("vgpu:sm_90a", ""),
           ("vgpu:sm_90a", "late")]  # fmt: skip


@pytest.fixture(params=ENGINES, ids=lambda engine: "-".join(filter(None, engine)))
def device(request, monkeypatch) -> str:
    monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", request.param[1])
    monkeypatch.setenv("TILEWRIGHT_CHECK", "1")
    return request.param[0]


def run(function, device: str, *arrays) -> str:
    """Runs a kernel, in which nothing may be found; what it says of its clusters."""
    kernel = tilewright.compile(function, device=device)
    kernel(*arrays)
    assert kernel.findings == []
    return "\n".join(str(remark) for remark in kernel.remarks)


@pytest.mark.parametrize("clusters", [1, 3])
@pytest.mark.parametrize("columns", [64, 31])
@pytest.mark.parametrize("signal", ["barrier", "sync"])
def test_a_copy_to_the_next_block(device: str, clusters: int, columns: int, signal: str) -> None:
    """Part of a tile, of whole rows or not; told by a barrier, or by a meeting of the cluster."""
    rows, blocks = 4, 2 * clusters

    @T.prim_func
    def main(A: T.Tensor((blocks, rows, columns), "float32"),
             B: T.Tensor((blocks, rows, columns), "float32")):  # fmt: skip
        with T.ClusterKernel(blocks, threads=128, cluster_dims=(2, 1, 1)) as bx:
            source = T.alloc_shared((rows, 64), "float32")
            target = T.alloc_shared((rows, 64), "float32")
            there = T.alloc_cluster_barrier([1])
            rank = T.block_rank_in_cluster()
            T.fill(target, 7.0)
            T.cluster_sync()
            for i, j in T.Parallel(rows, columns):
                source[i, j] = A[bx, i, j]
            if signal == "barrier":
                T.copy_cluster(
                    source[0:rows, 0:columns],
                    target[0:rows, 0:columns],
                    dst_block=1 - rank,
                    remote_barrier=there[0],
                )
                T.mbarrier_wait_parity(there[0], 0)
            else:
                T.copy_cluster(source[0:rows, 0:columns], target[0:rows, 0:columns],
                               dst_block=1 - rank)  # fmt: skip
                T.cluster_arrive()
                T.cluster_wait()
            for i, j in T.Parallel(rows, columns):
                B[bx, i, j] = target[i, j]

    a = np.random.default_rng(1).standard_normal((blocks, rows, columns)).astype(np.float32)
    b = np.zeros_like(a)
    said = run(main, device, a, b)
    np.testing.assert_array_equal(
        b, a.reshape(clusters, 2, rows, columns)[:, ::-1].reshape(a.shape)
    )
    if device.startswith("vgpu"):
        assert "the 2 blocks of a cluster run as one block of 256 threads" in said


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_blocks_pass_a_tile_round(device: str, rounds: int) -> None:
    """A ring of four blocks, which meet in every round of a loop."""

    @T.prim_func
    def main(A: T.Tensor((4, 64), "int32"), B: T.Tensor((4, 64), "int32")):
        with T.ClusterKernel(4, threads=64, cluster_dims=4) as bx:
            own = T.alloc_shared((64,), "int32")
            theirs = T.alloc_shared((64,), "int32")
            rank = T.block_rank_in_cluster()
            T.copy(A[bx, 0], own)
            for k in T.serial(rounds):
                T.cluster_sync()
                T.copy_cluster(own, theirs, dst_block=(rank + 1) % 4)
                T.cluster_sync()
                for i in T.Parallel(64):
                    own[i] = theirs[i] + 1
            T.copy(own, B[bx, 0])

    a = np.arange(256, dtype=np.int32).reshape(4, 64)
    b = np.zeros_like(a)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, np.roll(a, rounds, 0) + rounds)


def test_a_product_is_split_along_k(device: str) -> None:
    """Each block multiplies its part of K; the first one adds what the other sends."""

    @T.prim_func
    def main(A: T.Tensor((128, 256), "float16"), B: T.Tensor((256, 64), "float16"),
             C: T.Tensor((128, 64), "float32")):  # fmt: skip
        with T.ClusterKernel(2, 2, threads=128, cluster_dims=(2, 1)) as (part, by):
            a = T.alloc_shared((64, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            partial = T.alloc_shared((64, 64), "float32")
            c = T.alloc_fragment((64, 64), "float32")
            sent = T.alloc_cluster_barrier([1])
            T.clear(c)
            for k in T.Pipelined(2, num_stages=2):
                T.copy(A[by * 64, part * 128 + k * 64], a)
                T.copy(B[part * 128 + k * 64, 0], b)
                T.gemm(a, b, c)
            if part == 1:
                T.copy_cluster(c, partial, dst_block=0, remote_barrier=sent)
            else:
                T.mbarrier_wait_parity(sent, 0)
                for i, j in T.Parallel(64, 64):
                    c[i, j] += partial[i, j]
                T.copy(c, C[by * 64, 0])

    rng = np.random.default_rng(2)
    a = rng.integers(-2, 3, (128, 256)).astype(np.float16)
    b = rng.integers(-2, 3, (256, 64)).astype(np.float16)
    c = np.zeros((128, 64), np.float32)
    run(main, device, a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("first", [0, 2])
def test_arrivals_at_another_block(device: str, first: int) -> None:
    """All blocks tell one that they have begun."""

    @T.prim_func
    def main(B: T.Tensor((8,), "int32")):
        with T.ClusterKernel(8, threads=64, cluster_dims=4) as bx:
            begun = T.alloc_cluster_barrier([256])
            T.cluster_sync()
            T.mbarrier_arrive(begun, first)
            if T.block_rank_in_cluster() == first:
                T.mbarrier_wait_parity(begun, 0)
            B[bx] = T.block_rank_in_cluster()

    b = np.full(8, -1, np.int32)
    run(main, device, b)
    np.testing.assert_array_equal(b, np.arange(8) % 4)


def test_roles_inside_blocks(device: str) -> None:
    """Each block has a role that sends and one that waits, for the other block and for its own."""

    @T.prim_func
    def main(A: T.Tensor((4, 128), "float32"), B: T.Tensor((4, 128), "float32")):
        with T.ClusterKernel(4, threads=256, cluster_dims=2) as bx:
            own = T.alloc_shared((128,), "float32")
            theirs = T.alloc_shared((128,), "float32")
            there = T.alloc_cluster_barrier([1])
            ready = T.alloc_barrier([128])
            with T.ws(0):
                T.copy(A[bx, 0], own)
                T.copy_cluster(own, theirs, dst_block=1 - bx % 2, remote_barrier=there)
                T.barrier_arrive(ready)
            with T.ws(1):
                T.barrier_wait(ready, 0)
                T.mbarrier_wait_parity(there, 0)
                for i in T.Parallel(128):
                    B[bx, i] = own[i] + 2 * theirs[i]

    a = np.random.default_rng(3).standard_normal((4, 128)).astype(np.float32)
    b = np.zeros_like(a)
    said = run(main, device, a, b)
    np.testing.assert_array_equal(b, a + 2 * a[[1, 0, 3, 2]])
    if device.startswith("vgpu"):
        assert "4 roles run at once" in said


def test_threads_that_have_names(device: str) -> None:
    """Numbers of threads, and lanes of warps, are those of the block, not of the cluster."""

    @T.prim_func
    def main(A: T.Tensor((4, 128), "float32"), B: T.Tensor((4, 128), "float32")):
        with T.ClusterKernel(4, threads=128, cluster_dims=2) as bx:
            tx = T.get_thread_binding()
            own = T.alloc_shared((128,), "float32")
            theirs = T.alloc_shared((128,), "float32")
            value = T.alloc_local((1,), "float32")
            value[0] = A[bx, tx]
            value[0] = T.shfl_xor(value[0], 31)
            own[(127 - tx) // 32 * 32 + tx % 32] = value[0]
            T.copy_cluster(own, theirs, dst_block=1 - bx % 2)
            T.cluster_sync()
            B[bx, tx] = theirs[tx]

    a = np.random.default_rng(4).standard_normal((4, 128)).astype(np.float32)
    b = np.zeros_like(a)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, a[[1, 0, 3, 2], ::-1])


def test_a_number_of_a_block_that_has_ended() -> None:
    with pytest.raises(tilewright.TilewrightError, match="of another T.Kernel, which ended"):

        @T.prim_func
        def main(A: T.Tensor((4, 128), "float32")):
            with T.ClusterKernel(4, threads=128, cluster_dims=2) as bx:
                tile = T.alloc_shared((128,), "float32")
                T.copy(A[bx, 0], tile)
                T.copy_cluster(tile, tile, dst_block=0)
            with T.Kernel(bx + 1, threads=128):
                T.copy(tile, A[bx, 0])

        tilewright.compile(main, device="interp")


def test_an_arrival_that_never_comes(device: str) -> None:
    @T.prim_func
    def main(B: T.Tensor((2,), "int32")):
        with T.ClusterKernel(2, threads=64, cluster_dims=2) as bx:
            begun = T.alloc_cluster_barrier([128])
            if T.block_rank_in_cluster() == 1:
                T.mbarrier_arrive(begun, 0)
            else:
                T.mbarrier_wait_parity(begun, 0)
            B[bx] = 1

    with pytest.raises(tilewright.TilewrightError) as caught:
        tilewright.compile(main, device=device)(np.zeros(2, np.int32))
    assert "test_cluster_memory.py:" in str(caught.value)
    assert "T.mbarrier_wait_parity(begun, 0)" in str(caught.value)


def test_blocks_that_do_not_reach_each_other_stay_blocks() -> None:
    @T.prim_func
    def main(B: T.Tensor((4,), "int32")):
        with T.ClusterKernel(4, threads=64, cluster_dims=2) as bx:
            T.cluster_sync()
            B[bx] = T.block_rank_in_cluster()

    kernel = tilewright.compile(main, device="vgpu:sm_90a")
    b = np.zeros(4, np.int32)
    kernel(b)
    assert b.tolist() == [0, 1, 0, 1]
    assert ".reqnctapercluster 2" in kernel.ptx
    assert "cluster_arrive" not in kernel.ir("tile")


HEAD = """
@T.prim_func
def main(A: T.Tensor((64, 64), "float32"), n: T.int32):
    with {kernel} as bx:
        s = T.alloc_shared((64, 64), "float32")
        t = T.alloc_shared((64, 64), "float32")
        done = T.alloc_cluster_barrier([1])
        T.copy(A, s)
        {statement}
"""


@pytest.mark.parametrize("kernel, statement, message", [
    ("T.Kernel(2)", "T.copy_cluster(s, t, dst_block=1)",
     "'T.copy_cluster': dst_block names a block of a cluster, and this kernel has none"),
    ("T.Kernel(2)", "T.mbarrier_arrive(done, 1)",
     "'T.mbarrier_arrive': cta_id names a block of a cluster, and this kernel has none"),
    ("T.ClusterKernel(2, cluster_dims=2)", "T.copy_cluster(s, t, dst_block=2)",
     "dst_block is the rank of a block in its cluster, 0 to 1, got 2"),
    ("T.ClusterKernel(2, cluster_dims=2)", "T.mbarrier_arrive(done, True)",
     "cta_id is the rank of a block in its cluster, 0 to 1, got True"),
    ("T.ClusterKernel(2, cluster_dims=2)", "T.copy_cluster(s, A, dst_block=1)",
     "what another block has is a shared tile or barrier"),
    ("T.ClusterKernel(2, cluster_dims=2)", "T.copy_cluster(s, t, remote_barrier=done)",
     "'T.copy_cluster': remote_barrier needs dst_block"),
    ("T.ClusterKernel(2, cluster_dims=2)",
     "T.copy_cluster(s, t, dst_block=1, cluster_mask=3)", "exclude each other"),
    ("T.ClusterKernel(4, cluster_dims=4, threads=512)", "T.copy_cluster(s, t, dst_block=1)",
     "a block has at most 1024 threads, and the cluster has 4 x 512"),
    ("T.ClusterKernel(4, cluster_dims=4, threads=48)", "T.copy_cluster(s, t, dst_block=1)",
     "its threads have one extent, a multiple of 32"),
    ("T.ClusterKernel(n, cluster_dims=2)", "T.copy_cluster(s, t, dst_block=1)",
     "the extents of its grid are constants"),
    ("T.ClusterKernel(2, cluster_dims=2)",
     "T.sync_grid(); T.copy_cluster(s, t, dst_block=1)",
     "'T.copy_cluster' at another block in a kernel with 'T.sync_grid'"),
    ("T.ClusterKernel(2, cluster_dims=2)",
     "T.copy_cluster(s, t, dst_block=1); T.sync_grid()",
     "'T.sync_grid' in a kernel whose blocks reach into each other's shared memory"),
])  # fmt: skip
def test_what_is_refused(kernel: str, statement: str, message: str, tmp_path) -> None:
    """One error, at the Python line of the statement."""
    file = tmp_path / "program.py"
    file.write_text("import tilewright.language as T\n"
                    + HEAD.format(kernel=kernel, statement=statement))  # fmt: skip
    names: dict = {}
    with pytest.raises(tilewright.TilewrightError) as caught:
        exec(compile(file.read_text(), str(file), "exec"), names)
        tilewright.compile(names["main"], device="interp")
    assert message in str(caught.value)
    assert "program.py:10:" in str(caught.value) and "internal error" not in str(caught.value)
