"""Whether copies get a warp of their own is what a model of the machine expects to be faster: a
producer takes registers, and so maybe the room of another block on the processor."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
import tilewright
import tilewright.language as T
from tilewright.compat import imports

KERNELS = Path(__file__).resolve().parents[2] / "benchmarks" / "hopper_kernels.py"


def decide(heads: Any, columns: int, threads: int) -> tuple[bool, dict[str, Any]]:
    """Whether attention with 128 rows a block has a producer, and what was predicted."""
    imports.install()
    attention = runpy.run_path(str(KERNELS))["attention"]
    program = attention(8, heads, 1024, 64, False, 128, columns, 3, threads)
    kernel = tilewright.compile(program, target="sm_90a")
    (found,) = [r.data for r in kernel.remarks if "by_threads" in r.data]
    return any("a producer of" in str(remark) for remark in kernel.remarks), found


def test_threads_copy_where_that_leaves_room_for_another_block() -> None:
    """One warpgroup has all registers of 128 rows: a warp more, and no second block fits."""
    has_producer, found = decide(heads=32, columns=64, threads=128)
    assert not has_producer
    assert (found["blocks_with_producer"], found["blocks_without"]) == (1, 2)
    assert found["produced"] > 1.1 * found["by_threads"] and found["cycles"] == found["by_threads"]
    assert found["critical"]


@pytest.mark.parametrize(("columns", "threads"), [(32, 128), (64, 256)])
def test_a_producer_copies_where_registers_are_enough(columns: int, threads: int) -> None:
    """As many blocks fit either way."""
    has_producer, found = decide(32, columns, threads)
    assert has_producer and found["cycles"] == found["produced"]
    assert found["blocks_with_producer"] == found["blocks_without"]


@pytest.mark.parametrize("heads", [1, T.dynamic("heads")], ids=["small", "dynamic"])
def test_a_producer_copies_where_no_other_block_is_known(heads: Any) -> None:
    """64 blocks are fewer than processors, and a grid that the call decides may be small."""
    has_producer, found = decide(heads, columns=64, threads=128)
    assert has_producer and found["blocks_without"] == 1
