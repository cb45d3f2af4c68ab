"""Top-k: the k largest of each row, with their positions, by k searches of a maximum.

usage: python examples/top_k.py, or tw run examples/top_k.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[1, 2])
def top_k(rows, columns, k, block=16, dtype="float32"):
    @T.prim_func
    def main(
        X: T.Tensor((rows, columns), dtype),
        Values: T.Tensor((rows, k), dtype),
        Indices: T.Tensor((rows, k), "int32"),
    ):
        with T.Kernel(T.ceildiv(rows, block), threads=128) as bx:
            x = T.alloc_fragment((block, columns), dtype)
            largest = T.alloc_fragment((block,), dtype)
            candidates = T.alloc_fragment((block, columns), "int32")
            first = T.alloc_fragment((block,), "int32")
            T.copy(X[bx * block, 0], x)
            for step in T.serial(k):
                T.reduce_max(x, largest, dim=1)
                for i, j in T.Parallel(block, columns):
                    candidates[i, j] = T.if_then_else(x[i, j] == largest[i], j, columns)
                T.reduce_min(candidates, first, dim=1)
                for i, j in T.Parallel(block, columns):
                    if j == first[i]:
                        x[i, j] = -T.infinity(dtype)
                for i in T.Parallel(block):
                    if bx * block + i < rows:
                        Values[bx * block + i, step] = largest[i]
                        Indices[bx * block + i, step] = first[i]

    return main


def main():
    k = 6
    x = np.random.default_rng(0).integers(0, 50, (40, 64)).astype(np.float32)
    values, indices = top_k(*x.shape, k)(x)
    order = np.argsort(-x, axis=1, kind="stable")[:, :k]  # of equals, the first
    assert (indices == order).all()
    assert (values == np.take_along_axis(x, order, axis=1)).all()
    print("equal")


if __name__ == "__main__":
    main()
