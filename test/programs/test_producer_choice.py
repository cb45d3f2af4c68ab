"""Whether copies get a warp of their own is what a model of the machine expects to be faster: a
producer takes registers, and so maybe the room of another block on the processor."""

from __future__ import annotations

from typing import Any

import pytest
import tilewright
import tilewright.language as T

TILE, DEPTH = 128, 32


def gemm(rows: Any, columns: int, k: int, stages: int) -> Any:
    @T.prim_func
    def main(
        A: T.Tensor((rows, k), "float16"),
        B: T.Tensor((k, columns), "float16"),
        C: T.Tensor((rows, columns), "float32"),
    ):
        with T.Kernel(columns // TILE, T.ceildiv(rows, TILE), threads=256) as (bx, by):
            a = T.alloc_shared((TILE, DEPTH), "float16")
            b = T.alloc_shared((DEPTH, TILE), "float16")
            c = T.alloc_fragment((TILE, TILE), "float32")
            T.clear(c)
            for step in T.Pipelined(k // DEPTH, num_stages=stages):
                T.copy(A[by * TILE, step * DEPTH], a)
                T.copy(B[step * DEPTH, bx * TILE], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * TILE, bx * TILE])

    return main


def decide(program: Any) -> tuple[bool, dict[str, Any]]:
    """Whether there is a producer, and what was predicted."""
    kernel = tilewright.compile(program, target="sm_90a")
    (found,) = [r.data for r in kernel.remarks if "by_threads" in r.data]
    return any("a producer of" in str(remark) for remark in kernel.remarks), found


def test_threads_copy_where_that_leaves_room_for_another_block() -> None:
    """Two versions are too few to run far ahead; a second block hides what is waited for."""
    has_producer, found = decide(gemm(4096, 4096, 512, stages=2))
    assert not has_producer
    assert (found["blocks_with_producer"], found["blocks_without"]) == (1, 2)
    assert found["produced"] > 1.1 * found["by_threads"] and found["cycles"] == found["by_threads"]
    assert found["critical"]


def test_a_producer_copies_where_versions_are_enough() -> None:
    has_producer, found = decide(gemm(4096, 4096, 512, stages=4))
    assert has_producer and found["cycles"] == found["produced"]


@pytest.mark.parametrize("rows", [512, T.dynamic("m")], ids=["small", "dynamic"])
def test_a_producer_copies_where_no_other_block_is_known(rows: Any) -> None:
    """64 blocks are fewer than processors, and a grid that the call decides may be small."""
    has_producer, found = decide(gemm(rows, 2048, 512, stages=2))
    assert has_producer and found["blocks_without"] == 1
