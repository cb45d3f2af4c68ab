"""A run-time value has no digits while the kernel is compiled."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        x = A[0, 0]
        print(format(x, ".3f"))
        C[0, 0] = 1.0

a = np.ones((64, 64), np.float16); b = np.ones((64, 64), np.float16); c = np.zeros((64, 64), np.float32)
k = tilelang.compile(main)
k(a, b, c)


# --- report ---
# format_of_a_run_time_value.py:12:15: error: a run-time value has no text in the format '.3f' while the kernel is compiled; use T.print to print it when the kernel runs
#    12 |         print(format(x, ".3f"))
#       |               ^^^^^^^^^^^^^^^^
