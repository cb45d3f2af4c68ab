"""Threads meet in a reduction; some never come."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=128):
        f = T.alloc_fragment((64, 64), "float32")
        sums = T.alloc_fragment((64,), "float32")
        T.copy(A, f)
        for i in T.Parallel(64):
            if B[i] > 0:
                T.reduce_sum(f, sums, dim=1)


# --- report ---
# reduction_inside_parallel.py:14:17: error: 'T.reduce_sum' inside 'T.Parallel': the threads of the block work on it together and meet at barriers, but iterations take different ways; move it out of the loop
#    14 |                 T.reduce_sum(f, sums, dim=1)
#       |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
# reduction_inside_parallel.py:12:9: note: the flow of threads divides here
