"""Hadamard transform: log2(n) butterfly steps on a shared tile, one row for each block.

usage: python examples/hadamard.py, or tw run examples/hadamard.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def hadamard(rows, n, dtype="float32"):
    steps = n.bit_length() - 1

    @T.prim_func
    def main(X: T.Tensor((rows, n), dtype), Y: T.Tensor((rows, n), dtype)):
        with T.Kernel(rows, threads=128) as bx:
            x = T.alloc_shared((n,), dtype)
            y = T.alloc_fragment((n,), dtype)
            T.copy(X[bx, 0], x)
            for step in range(steps):  # a Python loop: each step is compiled by itself
                half = 1 << step
                for i in T.Parallel(n):
                    y[i] = T.if_then_else(
                        i // half % 2 == 0, x[i] + x[i ^ half], x[i ^ half] - x[i]
                    )
                T.copy(y, x)
            T.copy(x, Y[bx, 0])

    return main


def main():
    rows, n = 5, 256
    x = np.random.default_rng(0).integers(-8, 9, (rows, n)).astype(np.float32)
    matrix = np.ones((1, 1))
    while len(matrix) < n:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    assert (hadamard(rows, n)(x) == x @ matrix).all()
    print("equal")


if __name__ == "__main__":
    main()
