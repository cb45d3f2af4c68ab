"""`T.PersistentTileScheduler` without a number of workers takes one for each multiprocessor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright.arguments import convert_argument


def test_each_multiprocessor_is_a_worker() -> None:
    @T.prim_func
    def main(A: T.Tensor((200, 2), "int32")):
        with T.Kernel(108, threads=32) as block:
            scheduler = T.PersistentTileScheduler(200, 2)
            scheduler.init(block)
            while scheduler.valid():
                A[scheduler.m_idx, scheduler.n_idx] = scheduler.num_workers + scheduler.current_iter
                scheduler.next_tile()

    visited = np.zeros((200, 2), np.int32)
    tilewright.compile(main, target="sm_80", device="interp")(visited)
    order = np.arange(400).reshape(2, 200).T  # tiles are counted column by column
    assert (visited == 108 + order // 108).all()


M, N, K, TILE = 200, 192, 200, 64


def persistent_matmul(follows_data: bool = False) -> Any:
    """Blocks that take tiles from a scheduler, or from numbers that the kernel writes."""

    @T.prim_func
    def main(
        A: T.Tensor((M, K), "float16"),
        B: T.Tensor((N, K), "float16"),
        C: T.Tensor((M, N), "float16"),
        Order: T.Tensor((12,), "int32"),
    ):
        with T.Kernel(3, threads=128) as block:
            a = T.alloc_shared((TILE, 64), "float16")
            b = T.alloc_shared((TILE, 64), "float16")
            c = T.alloc_fragment((TILE, TILE), "float32")
            row = T.alloc_var("int32")
            tiles = T.PersistentTileScheduler(T.ceildiv(M, TILE), T.ceildiv(N, TILE), 3)
            tiles.init(block)
            while tiles.valid():
                row = tiles.m_idx
                if follows_data:
                    Order[tiles.linear_idx] = row
                    row = Order[tiles.linear_idx]
                T.clear(c)
                for i in T.Pipelined(T.ceildiv(K, 64), num_stages=3):
                    T.copy(A[row * TILE, i * 64], a)
                    T.copy(B[tiles.n_idx * TILE, i * 64], b)
                    T.gemm(a, b, c, transpose_B=True)
                T.copy(c, C[row * TILE, tiles.n_idx * TILE])
                tiles.next_tile()

    return main


def operands() -> list[np.ndarray]:
    random = np.random.default_rng(1)
    a, b = (random.integers(-2, 3, shape).astype(np.float16) for shape in ((M, K), (N, K)))
    return [a, b, np.zeros((M, N), np.float16), np.zeros(12, np.int32)]


@pytest.mark.parametrize("mode", ["", "late"])
def test_the_producer_goes_from_tile_to_tile(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps the scheduler's variables for itself; results are stored meanwhile."""
    if mode:
        monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", mode)
    kernel = tilewright.compile(persistent_matmul(), device="vgpu:sm_90a")
    a, b, c, order = operands()
    kernel(a, b, c, order)
    np.testing.assert_array_equal(c, (a @ b.T))
    assert not kernel.findings
    assert any("a producer of 32 threads issues" in str(remark) for remark in kernel.remarks)


def test_roles_with_variables_of_their_own_mean_the_same() -> None:
    """The interpreter runs the program as it is scheduled, in adverse orders."""
    program = persistent_matmul().program
    for order in range(3):
        arrays = operands()
        arguments = [
            convert_argument(array, parameter)
            for array, parameter in zip(arrays, program.params, strict=True)
        ]
        options = {"schedule": "sm_90a", "thread_order": order}
        findings = program.run("interp", arguments, options)["findings"]
        assert [found for found in findings if found["severity"] != "note"] == []
        np.testing.assert_array_equal(arrays[2], arrays[0] @ arrays[1].T)


def test_a_tile_that_the_kernel_computes_has_no_producer() -> None:
    kernel = tilewright.compile(persistent_matmul(follows_data=True), device="vgpu:sm_90a")
    a, b, c, order = operands()
    kernel(a, b, c, order)
    np.testing.assert_array_equal(c, a @ b.T)
    (remark,) = [str(r) for r in kernel.remarks if "has no producer warp" in str(r)]
    assert "where they read depends on 'Order', which the kernel writes" in remark
