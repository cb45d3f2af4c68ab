"""`T.copy_cluster(…, cluster_mask=m)`: blocks of a cluster that have a bit in the mask copy what
the first of them copies. It means the same on all engines; on Hopper one block copies for them."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright.ptxas import assemble, find_ptxas

HOPPER = "vgpu:sm_90a"
ON_ALL = pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80", "vgpu:sm_90", HOPPER])
ROWS, COLUMNS = 16, 64


@pytest.fixture(params=["", "late"])
def mode(request, monkeypatch):
    """Asynchronous effects happen at once, or not before a wait."""
    monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", request.param)


def messages(kernel) -> str:
    return "\n".join(str(remark) for remark in kernel.remarks)


def passed_on(grid, cluster, mask, statement=T.copy_cluster):
    """As TileLang's test of multicast: each block stores the tile that it got."""
    across, down = grid

    @T.prim_func
    def main(
        A: T.Tensor((down * ROWS, across * COLUMNS), "float16"),
        B: T.Tensor((down * ROWS, across * COLUMNS), "float16"),
    ):
        with T.ClusterKernel(across, down, cluster_dims=cluster, threads=128) as (bx, by):
            tile = T.alloc_shared((ROWS, COLUMNS), "float16")
            statement(A[by * ROWS, bx * COLUMNS], tile, cluster_mask=mask)
            T.copy(tile, B[by * ROWS, bx * COLUMNS])

    return main


def sources(grid, cluster, mask):
    """For each block, the one whose tile it gets."""
    ranks = [rank for rank in range(cluster[0] * cluster[1]) if mask >> rank & 1]
    for y in range(grid[1]):
        for x in range(grid[0]):
            rank = x % cluster[0] + y % cluster[1] * cluster[0]
            first = ranks[0] if rank in ranks else rank
            yield (
                (x, y),
                (
                    x // cluster[0] * cluster[0] + first % cluster[0],
                    y // cluster[1] * cluster[1] + first // cluster[0],
                ),
            )


def check(kernel, grid, cluster, mask) -> None:
    a = np.random.default_rng(1).integers(-9, 9, (grid[1] * ROWS, grid[0] * COLUMNS))
    a = a.astype(np.float16)
    b, want = np.zeros_like(a), np.zeros_like(a)

    def tile(array, block):
        x, y = block
        return array[y * ROWS : (y + 1) * ROWS, x * COLUMNS : (x + 1) * COLUMNS]

    for block, source in sources(grid, cluster, mask):
        tile(want, block)[:] = tile(a, source)
    kernel(a, b)
    np.testing.assert_array_equal(b, want)
    assert not kernel.findings


CASES = [
    ((8, 2), (4, 1), 0b0011),
    ((8, 2), (4, 1), 0b1111),
    ((8, 2), (4, 1), 0b1010),
    ((4, 4), (2, 2), 0b1001),
    ((4, 4), (2, 2), 0b1100),
    ((4, 4), (1, 4), 0b1110),
    ((4, 2), (2, 1), 0b10),
]


@ON_ALL
@pytest.mark.parametrize("statement", [T.copy_cluster, T.tma_copy])
@pytest.mark.parametrize(("grid", "cluster", "mask"), CASES)
def test_blocks_get_the_tile_of_the_first(device, grid, cluster, mask, statement) -> None:
    kernel = tilewright.compile(passed_on(grid, cluster, mask, statement), device=device)
    check(kernel, grid, cluster, mask)


@pytest.mark.parametrize(("grid", "cluster", "mask"), CASES)
def test_one_block_copies_for_the_others(grid, cluster, mask, mode) -> None:
    kernel = tilewright.compile(passed_on(grid, cluster, mask), device=HOPPER)
    check(kernel, grid, cluster, mask)
    count = mask.bit_count()
    if count > 1:
        assert kernel.ptx.count(".multicast::cluster") == 1
        assert f"one of {count} blocks copies it for all of them (multicast)" in messages(kernel)
    else:
        assert "multicast" not in kernel.ptx
    if find_ptxas():
        assemble(kernel.ptx, "sm_90a")


def gemm(grid, cluster, mask, k, stages=3):
    """Blocks of the mask multiply the rows of A of the first of them."""
    across, down = grid

    @T.prim_func
    def main(
        A: T.Tensor((down * 64, k), "float16"),
        B: T.Tensor((k, across * 64), "float16"),
        C: T.Tensor((down * 64, across * 64), "float32"),
    ):
        with T.ClusterKernel(across, down, cluster_dims=cluster, threads=128) as (bx, by):
            a = T.alloc_shared((64, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            for step in T.Pipelined(T.ceildiv(k, 64), num_stages=stages):
                T.copy_cluster(A[by * 64, step * 64], a, cluster_mask=mask)
                T.copy(B[step * 64, bx * 64], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * 64, bx * 64])

    return main


@pytest.mark.parametrize("steps", [1, 2, 5])
@pytest.mark.parametrize(
    ("cluster", "mask"), [((2, 1), 0b11), ((1, 2), 0b11), ((4, 1), 0b0110), ((2, 2), 0b0101)]
)
def test_pipelines(cluster, mask, steps, mode) -> None:
    grid, k = (4, 4), 64 * steps
    kernel = tilewright.compile(gemm(grid, cluster, mask, k), device=HOPPER)
    rng = np.random.default_rng(k)
    a = rng.integers(-3, 4, (256, k)).astype(np.float16)
    b = rng.integers(-3, 4, (k, 256)).astype(np.float16)
    c, want = np.zeros((256, 256), np.float32), np.zeros((256, 256), np.float32)
    for (x, y), (_, row) in sources(grid, cluster, mask):
        want[y * 64 : y * 64 + 64, x * 64 : x * 64 + 64] = a[row * 64 : row * 64 + 64].astype(
            np.float32
        ) @ b[:, x * 64 : x * 64 + 64].astype(np.float32)
    kernel(a, b, c)
    np.testing.assert_array_equal(c, want)
    assert not kernel.findings
    assert (".multicast::cluster" in kernel.ptx) == (steps > 1)  # one iteration has no producer
    if steps > 1:
        assert f"a: one of {mask.bit_count()} blocks copies it" in messages(kernel)


def test_a_tile_whose_bytes_were_in_use_is_copied_by_each_block(mode) -> None:
    """Another block could write them while this one still reads."""

    @T.prim_func
    def main(
        A: T.Tensor((2 * ROWS, COLUMNS), "float16"), B: T.Tensor((2, ROWS, COLUMNS), "float16")
    ):
        with T.ClusterKernel(2, cluster_dims=2, threads=128) as bx:
            tile = T.alloc_shared((ROWS, COLUMNS), "float16")
            T.copy(A[bx * ROWS, 0], tile)
            for i, j in T.Parallel(ROWS, COLUMNS):
                B[bx, i, j] = tile[i, j]
            T.copy_cluster(A[bx * ROWS, 0], tile, cluster_mask=0b11)
            for i, j in T.Parallel(ROWS, COLUMNS):
                B[bx, i, j] += tile[i, j]

    kernel = tilewright.compile(main, device=HOPPER)
    a = np.random.default_rng(1).integers(-9, 9, (2 * ROWS, COLUMNS)).astype(np.float16)
    b = np.zeros((2, ROWS, COLUMNS), np.float16)
    kernel(a, b)
    np.testing.assert_array_equal(b, a.reshape(b.shape) + a[None, :ROWS])
    assert not kernel.findings
    assert "multicast" not in kernel.ptx


def wrong(text: str):
    """The message of a copy with these arguments, in a cluster of four."""
    with pytest.raises(tilewright.TilewrightError) as error:

        @T.prim_func
        def main(A: T.Tensor((64, 64), "float16"), rows: T.Tensor((4,), "int32")):
            with T.ClusterKernel(4, cluster_dims=4, threads=128) as bx:
                tile = T.alloc_shared((ROWS, 64), "float16")
                other = T.alloc_shared((ROWS, 64), "float16")
                if text == "mask of no cluster":
                    T.copy_cluster(A[bx * ROWS, 0], tile, cluster_mask=0x11)
                elif text == "table":
                    T.copy_cluster(A[rows[bx], 0], tile, cluster_mask=3)
                elif text == "no tensor":
                    T.copy_cluster(other, tile, cluster_mask=3)
                elif text == "annotation":
                    T.copy(A[bx * ROWS, 0], tile, annotations={"cluster_mask": 3})
                T.copy(tile, A[bx * ROWS, 0])

        tilewright.compile(main, device="interp")
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mask of no cluster", "expected 1 to 15 in a cluster of 4, got 17"),
        ("table", "where it copies from is read from memory"),
        ("no tensor", "copies from a tensor to a shared tile"),
        ("annotation", "use T.copy_cluster"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    said = wrong(text)
    assert message in said
    assert "test_cluster_masks.py:" in said
