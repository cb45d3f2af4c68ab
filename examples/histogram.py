"""Histogram: atomics on a shared tile first, then one atomic a bin on global memory.

usage: python examples/histogram.py, or tw run examples/histogram.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit
def histogram(n, bins, block=512):
    @T.prim_func
    def main(X: T.Tensor((n,), "int32"), Counts: T.Tensor((bins,), "int32")):
        with T.Kernel(T.ceildiv(n, block), threads=128) as bx:
            counts = T.alloc_shared((bins,), "int32")
            T.clear(counts)
            for i in T.Parallel(block):
                if bx * block + i < n:
                    T.atomic_add(counts[X[bx * block + i]], 1)
            for i in T.Parallel(bins):
                T.atomic_add(Counts[i], counts[i])

    return main


def main():
    n, bins = 3000, 64
    x = np.random.default_rng(0).integers(0, bins, n).astype(np.int32)
    counts = np.zeros(bins, np.int32)
    histogram(n, bins)(x, counts)
    assert (counts == np.bincount(x, minlength=bins)).all()
    print(f"equal: {n} values in {bins} bins")


if __name__ == "__main__":
    main()
