"""Once for the block, or once for each thread?"""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        tx = T.get_thread_binding()
        T.atomic_add(A[0], 1.0)
        A[tx] = 1.0


# --- report ---
# atomic_of_no_thread.py:10:9: error: in a kernel that names its threads, an atomic outside a condition on the thread index does not say how often it runs; write 'if tx == 0:' around it
#    10 |         T.atomic_add(A[0], 1.0)
#       |         ^^^^^^^^^^^^^^^^^^^^^^^
