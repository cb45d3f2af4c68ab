"""GEMM, stream-K: the steps of all tiles are one long list that blocks share equally.

A block may begin in the middle of a tile and end in the middle of another; the parts of a tile are
added atomically. No processor waits for a last wave of tiles.

usage: python examples/matmul_stream_k.py, or tw run examples/matmul_stream_k.py --device cpu
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit
def matmul_stream_k(M, N, K, blocks=5, block_M=64, block_N=64, block_K=32, dtype="float16"):
    columns = -(-N // block_N)
    steps = -(-K // block_K)  # of a tile
    total = -(-M // block_M) * columns * steps
    share = -(-total // blocks)

    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")
    ):
        with T.Kernel(blocks, threads=128) as bx:
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), "float32")
            start = T.alloc_var("int32")
            end = T.alloc_var("int32")
            start = bx * share
            end = T.min(total, (bx + 1) * share)
            while start < end:
                tile = start // steps
                first = start % steps
                count = T.min(steps - first, end - start)
                row = tile // columns * block_M
                column = tile % columns * block_N
                T.clear(C_local)
                for k in T.Pipelined(count, num_stages=2):
                    T.copy(A[row, (first + k) * block_K], A_shared)
                    T.copy(B[(first + k) * block_K, column], B_shared)
                    T.gemm(A_shared, B_shared, C_local)
                for i, j in T.Parallel(block_M, block_N):
                    T.atomic_add(C[row + i, column + j], C_local[i, j])
                start = start + count

    return main


def main():
    rng = np.random.default_rng(0)
    a = rng.integers(-2, 3, (128, 160)).astype(np.float16)
    b = rng.integers(-2, 3, (160, 192)).astype(np.float16)
    c = np.zeros((128, 192), np.float32)  # the parts are added to it
    matmul_stream_k(128, 192, 160)(a, b, c)
    error = np.abs(c - a.astype(np.float32) @ b.astype(np.float32)).max()
    print(f"largest error {error}")
    assert error == 0


if __name__ == "__main__":
    main()
