"""A dtype that is a number."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        s = T.alloc_shared((64,), 16)


# --- report ---
# tile_dtype_as_number.py:9:13: error: expected a dtype, got 16; write T.float16 or "float16"
#     9 |         s = T.alloc_shared((64,), 16)
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^^
