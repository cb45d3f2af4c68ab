"""The iterations of T.Parallel are not threads."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        for i in T.Parallel(64):
            A[i] = T.get_thread_binding()


# --- report ---
# thread_index_in_parallel.py:10:20: error: 'T.Parallel' deals its iterations to the threads itself, so its body has no thread index; write a serial loop
#    10 |             A[i] = T.get_thread_binding()
#       |                    ^^^^^^^^^^^^^^^^^^^^^^
