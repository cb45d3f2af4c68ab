"""Data decide which threads come to a statement of the whole block."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        tx = T.get_thread_binding()
        tile = T.alloc_shared((64,), "float32")
        if A[tx] > 0:
            T.copy(A, tile)


# --- report ---
# tile_statement_of_some_threads.py:12:13: error: a tile statement is the whole block's, but whether it runs depends on values of single threads; only conditions on the thread index and constants may decide that
#    12 |             T.copy(A, tile)
#       |             ^^^^^^^^^^^^^^^
