"""Left shifts of 8- and 16-bit integers: where they wrap, and where CUDA's C++ keeps the bits.

TileLang's CUDA text shifts in 32 bits, and so does its CuTe DSL generator where a conversion to a
wider integer follows.
"""

import numpy as np
import pytest
import tilewright
import tilewright.language as T

ENGINES = ["interp", "cpu", "vgpu:sm_80", "vgpu:sm_90a"]
N = 256


def shifted(values, amount, dtype):
    """In 32 bits, as C++ shifts, then converted."""
    wide = values.astype(np.int32).astype(np.int64) << amount
    return wide.astype(np.int32).astype(dtype)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("narrow", ["uint8", "int8", "uint16", "int16"])
def test_a_shift_that_is_widened_keeps_its_bits(narrow, engine):
    bits = np.iinfo(narrow).bits

    @T.prim_func
    def main(
        A: T.Tensor((N,), narrow),
        Cast: T.Tensor((N,), "uint32"),
        Far: T.Tensor((N,), "uint32"),
        Stored: T.Tensor((N,), "int32"),
        Met: T.Tensor((N,), "int32"),
        Long: T.Tensor((N,), "int64"),
        Pair: T.Tensor((N,), narrow),
        Named: T.Tensor((N,), "uint32"),
        Amounts: T.Tensor((N,), "uint32"),
    ):
        with T.Kernel(1, threads=N):
            for i in T.Parallel(N):
                Cast[i] = T.cast(A[i] << 5, "uint32") | 1
                Far[i] = T.cast(A[i] << (bits + 4), "uint32")
                Stored[i] = A[i] << 7
                Met[i] = (A[i] << 6) + T.int32(3)
                Long[i] = T.cast(A[i] << 12, "int64")
                Pair[i] = (A[i] << 4) >> 4
                t = A[i] << 5
                Named[i] = T.cast(t, "uint32")
                Amounts[i] = T.cast(A[i] << T.cast(i % 16, narrow), "uint32")

    a = np.arange(N, dtype=np.int64) * (1 if bits == 8 else 251)
    a = a.astype(narrow)
    dtypes = ["uint32", "uint32", "int32", "int32", "int64", narrow, "uint32", "uint32"]
    results = [np.full(N, 77, dtype) for dtype in dtypes]
    tilewright.compile(main, device=engine)(a, *results)
    wrapped = (a.astype(np.int64) << 4).astype(narrow)
    expected = [
        shifted(a, 5, "uint32") | 1,
        shifted(a, bits + 4, "uint32"),
        shifted(a, 7, "int32"),
        shifted(a, 6, "int32") + 3,
        shifted(a, 12, "int64"),
        wrapped >> np.array(4, narrow),
        (a.astype(np.int64) << 5).astype(narrow).astype("uint32"),
        np.array([shifted(a[i : i + 1], i % 16, "uint32")[0] for i in range(N)]),
    ]
    for result, want in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, want)
