"""A `T.alloc_local` in a `T.Parallel`: each iteration has one for itself."""

from __future__ import annotations

import numpy as np
import tilewright.language as T
from on_engines import ON_ALL, run


@T.macro
def reverse_bytes(values, out):
    """An array of the macro's own, indexed by a loop, and two of its caller."""
    parts = T.alloc_local((4,), "int32")
    for k in T.unroll(4):
        parts[k] = values[3 - k] * 10 + k
    for k in T.serial(4):
        out[k] = parts[k]


@ON_ALL
def test_arrays_inside_and_in_front_of_the_loop(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((8, 16, 4), "int32"), B: T.Tensor((8, 16, 4), "int32")):
        with T.Kernel(2, threads=32) as bx:
            values = T.alloc_local((4,), "int32")
            results = T.alloc_local((4,), "int32")
            tile = T.alloc_fragment((4, 16, 4), "int32")
            T.copy(A[bx * 4, 0, 0], tile)
            for i, j in T.Parallel(4, 16):
                for k in T.serial(4):
                    values[k] = tile[i, j, k]
                reverse_bytes(values, results)
                for k in T.serial(4):
                    B[bx * 4 + i, j, k] = results[k]

    a = np.random.default_rng(3).integers(0, 100, (8, 16, 4)).astype(np.int32)
    b = np.zeros_like(a)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, a[:, :, ::-1] * 10 + np.arange(4))
