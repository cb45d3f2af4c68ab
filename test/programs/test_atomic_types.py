"""Atomics on every element type and operation, in global and shared memory."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T

TYPES = [
    "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "float8_e4m3fn", "float8_e5m2", "tfloat32", "float16", "bfloat16", "float32", "float64",
]  # fmt: skip
KINDS = {"add": T.atomic_add, "max": T.atomic_max, "min": T.atomic_min}


def array_type(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name, name.replace("tfloat", "float")))


def updates(dtype: str, kind: str, shared: bool):
    """96 updates of a few elements: neighbouring bytes are changed at the same time."""
    update = KINDS[kind]
    count = 14 if shared else 13

    @T.prim_func
    def main(A: T.Tensor((96,), dtype), B: T.Tensor((count,), dtype)):
        with T.Kernel(1, threads=96):
            if shared:
                tile = T.alloc_shared((count,), dtype)
                T.copy(B, tile)
                for i in T.Parallel(96):
                    update(tile[i % count], A[i])
                T.copy(tile, B)
            else:
                for i in T.Parallel(96):
                    update(B[i % count], A[i])

    return main


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_every_type(arch: str, dtype: str, kind: str, shared: bool) -> None:
    function = updates(dtype, kind, shared)
    rng = np.random.default_rng(3)
    low = 0 if dtype.startswith("u") else -1
    a = rng.integers(low, 2, 96).astype(array_type(dtype))
    b = rng.integers(low, 2, 14 if shared else 13).astype(array_type(dtype))
    expected, got = b.copy(), b.copy()
    tilewright.compile(function, target="interp")(a, expected)
    kernel = tilewright.compile(function, target=arch)
    kernel(a, got)
    np.testing.assert_array_equal(got, expected)
    assert not kernel.findings


@T.prim_func
def tickets(
    Count: T.Tensor((1,), "int32"), Order: T.Tensor((4,), "int32"), Rows: T.Tensor((64,), "int32")
):
    with T.Kernel(4, threads=64) as bx:
        # One thread updates, all have the previous value.
        ticket = T.atomic_add(Count[0], 1, return_prev=True)
        Order[ticket] = bx
        acc = T.alloc_fragment((16, 16), "int32")
        row = T.alloc_fragment((16,), "int32")
        T.fill(acc, 1)
        T.reduce_sum(acc, row, dim=1)  # rows have copies
        for i in T.Parallel(16):
            row[i] = T.atomic_add(Rows[ticket * 16 + i], row[i], return_prev=True)
        for i in T.Parallel(16):
            Rows[ticket * 16 + i] = Rows[ticket * 16 + i] + row[i]


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_previous_values_reach_all_threads(arch: str) -> None:
    kernel = tilewright.compile(tickets, target=arch)
    count, order = np.zeros(1, "int32"), np.full(4, -1, "int32")
    rows = np.arange(64, dtype="int32")
    kernel(count, order, rows)
    assert count[0] == 4
    assert sorted(order) == [0, 1, 2, 3]
    np.testing.assert_array_equal(rows, 2 * np.arange(64) + 16)
    assert not kernel.findings
