"""Blocks that wait for later ones: each needs a thread of its own on the CPU."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T


@T.prim_func
def meet(
    A: T.Tensor((12, 32), "int32"), Count: T.Tensor((1,), "int32"), O: T.Tensor((12, 32), "int32")
):
    """A barrier of all blocks, as programs write it by hand."""
    with T.Kernel(12, threads=32) as b:
        for i in T.Parallel(32):
            A[b, i] = b * 100 + i
        T.atomic_add(Count[0], 1, memory_order="release")
        while T.atomic_load(Count[0], memory_order="acquire") < 12:
            T.evaluate(0)
        for i in T.Parallel(32):
            O[b, i] = A[11 - b, 31 - i]


@pytest.mark.parametrize(
    ("device", "threads"), [("cpu", "1"), ("cpu", "2"), ("cpu", ""), ("vgpu:sm_80", "")]
)
def test_blocks_wait_for_later_ones(
    device: str, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CPU code hung: a block that waits kept the thread that a later one needed."""
    if threads:
        monkeypatch.setenv("TILEWRIGHT_THREADS", threads)
    o = np.zeros((12, 32), np.int32)
    kernel = tilewright.compile(meet, device=device)
    kernel(np.zeros_like(o), np.zeros(1, np.int32), o)
    assert [found for found in kernel.findings if found["severity"] != "note"] == []
    numbers = 100 * np.arange(12)[:, None] + np.arange(32)
    np.testing.assert_array_equal(o, numbers[::-1, ::-1])


def test_the_interpreter_says_that_it_cannot_wait_for_later_blocks() -> None:
    """It hung."""
    o = np.zeros((12, 32), np.int32)
    with pytest.raises(tilewright.TilewrightError, match="this loop never ends") as error:
        tilewright.compile(meet, device="interp")(o, np.zeros(1, np.int32), o.copy())
    assert "while T.atomic_load" in str(error.value)
