"""Threads that store different values into one element."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=64):
        A[0] = T.get_thread_binding()


# --- report ---
# threads_write_one_element.py:9:9: error: 'T.Parallel' iterations are not independent: (0) writes and (1) writes the same element of 'A'[0] with another value; use an atomic, a reduction, or two loops
#     9 |         A[0] = T.get_thread_binding()
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
# threads_write_one_element.py:9:9: note: the loop starts here
