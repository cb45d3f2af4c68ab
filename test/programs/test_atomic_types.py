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
COUNT = 13  # odd: behind the last byte there is nothing that was written


def array_type(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name, name.replace("tfloat", "float")))


def updates(dtype: str, kind: str, shared: bool):
    """96 updates of a few elements: neighbouring bytes are changed at the same time."""
    update = KINDS[kind]
    count = COUNT

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
    b = rng.integers(low, 2, COUNT).astype(array_type(dtype))
    expected, got = b.copy(), b.copy()
    tilewright.compile(function, target="interp")(a, expected)
    kernel = tilewright.compile(function, target=arch)
    kernel(a, got)
    np.testing.assert_array_equal(got, expected)
    assert not kernel.findings


def run_everywhere(function, *arrays: np.ndarray) -> list[np.ndarray]:
    """The arrays after a call, from each engine; no engine may find anything."""
    results = []
    for target in ("interp", "cpu", "sm_80", "sm_90"):
        copies = [array.copy() for array in arrays]
        kernel = tilewright.compile(function, target=target)
        kernel(*copies)
        assert not kernel.findings, target
        results.append(copies)
    return results


def test_bytes_next_to_what_nobody_wrote() -> None:
    """The neighbour of an updated byte takes part in the swap and must not decide it."""

    @T.prim_func
    def main(A: T.Tensor((96,), "int8"), B: T.Tensor((8,), "int8")):
        with T.Kernel(1, threads=96):
            tile = T.alloc_shared((15,), "int8")
            for i in T.Parallel(8):
                tile[2 * i] = 0
            for i in T.Parallel(96):
                T.atomic_add(tile[i % 8 * 2], A[i])
            for i in T.Parallel(8):
                B[i] = tile[2 * i]

    a = np.arange(96, dtype=np.int8)
    expected = a.reshape(12, 8).sum(axis=0, dtype=np.int8)
    for _, b in run_everywhere(main, a, np.zeros(8, np.int8)):
        np.testing.assert_array_equal(b, expected)


def test_bytes_of_an_odd_workspace() -> None:
    @T.prim_func
    def main(A: T.Tensor((96,), "uint8"), B: T.Tensor((13,), "uint8")):
        sums = T.alloc_global((13,), "uint8")
        with T.Kernel(1, threads=32):
            T.clear(sums)
        with T.Kernel(3, threads=32) as block:
            for i in T.Parallel(32):
                T.atomic_add(sums[(block * 32 + i) % 13], A[block * 32 + i])
        with T.Kernel(1, threads=32):
            T.copy(sums, B)

    a = np.arange(96, dtype=np.uint8)
    expected = np.zeros(13, np.uint8)
    np.add.at(expected, np.arange(96) % 13, a)
    for _, b in run_everywhere(main, a, np.zeros(13, np.uint8)):
        np.testing.assert_array_equal(b, expected)


@pytest.mark.parametrize("place", ["shared", "swizzled", "global"])
@pytest.mark.parametrize(
    ("own", "seen"),
    [("int32", "int8"), ("int32", "int16"), ("float32", "int32"), ("int64", "uint32"),
     ("int16", "int32"), ("int8", "int64"), ("uint8", "float16")],
)  # fmt: skip
def test_atomics_through_a_view(own: str, seen: str, place: str) -> None:
    width, count = np.dtype(seen).itemsize, 256 // np.dtype(seen).itemsize
    shape = (4, 64 // np.dtype(own).itemsize)

    @T.prim_func
    def main(A: T.Tensor((96,), seen), B: T.Tensor(shape, own)):
        with T.Kernel(1, threads=96):
            tile = T.alloc_shared(shape, own)
            if place == "swizzled":
                T.annotate_layout({tile: tilewright.layout.make_swizzled_layout(tile)})
            root = B if place == "global" else tile
            if place != "global":
                T.copy(B, tile)
            words = T.view(root, (4, count // 4), seen)
            for i in T.Parallel(96):
                T.atomic_add(words[i % 4, i * 5 % (count // 4)], A[i])
            if place != "global":
                T.copy(tile, B)

    a = (np.arange(96) % 7).astype(seen)
    b = np.zeros(256 // np.dtype(own).itemsize, own).reshape(shape)
    expected = np.zeros((4, 64 // width), seen)
    lane = np.arange(96)
    np.add.at(expected, (lane % 4, lane * 5 % (count // 4)), a)
    for _, got in run_everywhere(main, a, b):
        np.testing.assert_array_equal(got.view(np.uint8), expected.view(np.uint8))


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
