"""A launch has one shape."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        tx = T.thread_binding(0, 32, thread="threadIdx.x")
        A[tx] = 1.0


# --- report ---
# thread_binding_of_other_extent.py:9:14: error: 'T.thread_binding' over 32 of 'threadIdx.x': the block has 64 there; open the kernel with threads=32
#     9 |         tx = T.thread_binding(0, 32, thread="threadIdx.x")
#       |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
