"""The whole block works on a gemm, the iterations of a loop do not."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=128):
        a = T.alloc_shared((64, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.copy(A, a)
        for i in T.Parallel(64):
            if B[i] > 0:
                T.gemm(a, a, c)


# --- report ---
# gemm_inside_parallel.py:14:17: error: 'T.gemm' inside 'T.Parallel': the threads of the block work on it together and meet at barriers, but iterations take different ways; move it out of the loop
#    14 |                 T.gemm(a, a, c)
#       |                 ^^^^^^^^^^^^^^^
# gemm_inside_parallel.py:12:9: note: the flow of threads divides here
