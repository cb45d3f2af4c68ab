"""Cross-entropy: logarithm of the softmax at the label of each row, in one pass over the classes.

Classes arrive in tiles; a running maximum and a running sum replace the whole row.

usage: python examples/cross_entropy.py, or tw run examples/cross_entropy.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def cross_entropy(rows, classes, block=8, block_C=128, dtype="float32"):
    @T.prim_func
    def main(
        X: T.Tensor((rows, classes), dtype),
        Label: T.Tensor((rows,), "int32"),
        Loss: T.Tensor((rows,), dtype),
    ):
        with T.Kernel(T.ceildiv(rows, block), threads=128) as bx:
            x = T.alloc_fragment((block, block_C), dtype)
            largest = T.alloc_fragment((block,), dtype)
            before = T.alloc_fragment((block,), dtype)
            part = T.alloc_fragment((block,), dtype)
            total = T.alloc_fragment((block,), dtype)
            T.fill(largest, -T.infinity(dtype))
            T.clear(total)
            for c in T.Pipelined(T.ceildiv(classes, block_C), num_stages=2):
                for i, j in T.Parallel(block, block_C):
                    x[i, j] = T.if_then_else(
                        c * block_C + j < classes,
                        X[bx * block + i, c * block_C + j],
                        -T.infinity(dtype),
                    )
                T.copy(largest, before)
                T.reduce_max(x, largest, dim=1, clear=False)
                for i, j in T.Parallel(block, block_C):
                    x[i, j] = T.exp(x[i, j] - largest[i])
                T.reduce_sum(x, part, dim=1)
                for i in T.Parallel(block):
                    total[i] = total[i] * T.exp(before[i] - largest[i]) + part[i]
            for i in T.Parallel(block):
                if bx * block + i < rows:
                    logit = X[bx * block + i, Label[bx * block + i]]
                    Loss[bx * block + i] = T.log(total[i]) + largest[i] - logit

    return main


def main():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((30, 300)).astype(np.float32) * 4
    label = rng.integers(0, 300, 30).astype(np.int32)
    loss = cross_entropy(*x.shape)(x, label)
    wide = x.astype(np.float64)
    expected = np.log(np.exp(wide).sum(-1)) - wide[np.arange(30), label]
    error = np.abs(loss - expected).max()
    print(f"largest error {error:.1e}")
    assert error < 1e-5


if __name__ == "__main__":
    main()
