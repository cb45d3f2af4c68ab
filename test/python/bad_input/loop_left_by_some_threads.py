"""Threads that have left a while loop cannot meet the others in it."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        tx = T.get_thread_binding()
        tile = T.alloc_shared((64,), "float32")
        i = T.alloc_var("int32", init=0)
        while i < tx:
            tile[tx] = A[i]
            A[tx] = tile[63 - tx]
            i += 1


# --- report ---
# loop_left_by_some_threads.py:12:9: error: threads leave this loop at different times, but statements in it need all of them (they touch what other threads write, or are tile statements); give all threads the same bounds
#    12 |         while i < tx:
#       |         ^^^^^^^^^^^^^
