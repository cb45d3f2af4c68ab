"""A product is the whole block's."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        own = T.alloc_local((16, 16), "float16")
        own[0, 0] = T.get_thread_binding()
        total = T.alloc_fragment((16, 16), "float32")
        T.gemm(own, own, total)


# --- report ---
# gemm_of_one_thread.py:12:9: error: this statement is the whole block's; it cannot depend on the index or use the memory ('T.alloc_local') of one thread
#    12 |         T.gemm(own, own, total)
#       |         ^^^^^^^^^^^^^^^^^^^^^^^
