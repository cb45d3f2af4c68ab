"""A block has sixteen barriers."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        tx = T.get_thread_binding()
        if tx < 32:
            T.named_barrier_arrive(16, 64)


# --- report ---
# named_barrier_out_of_range.py:11:13: error: 'T.named_barrier_arrive': a block has the barriers 0 to 15, got 16
#    11 |             T.named_barrier_arrive(16, 64)
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
