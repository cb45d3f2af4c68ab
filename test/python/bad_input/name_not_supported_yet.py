"""A name of TileLang that is not supported yet."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        tx = T.get_thread_binding()
        A[tx] = 1.0


# --- report ---
# name_not_supported_yet.py:9:14: error: 'T.get_thread_binding' is not supported yet; write the loop over elements with T.Parallel
#     9 |         tx = T.get_thread_binding()
#       |              ^^^^^^^^^^^^^^^^^^^^
