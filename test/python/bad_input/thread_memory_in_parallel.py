"""The iterations of T.Parallel have no memory of one thread."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        own = T.alloc_local((4,), "float32")
        own[0] = T.get_thread_binding()
        for i in T.Parallel(64):
            own[1] = A[i]


# --- report ---
# thread_memory_in_parallel.py:11:9: error: 'T.Parallel' deals its iterations to the threads itself, so its body cannot use the index or the memory of one thread; write a serial loop
#    11 |         for i in T.Parallel(64):
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^
