"""A variable is one number."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        x = T.alloc_var((4,), "float32")


# --- report ---
# variable_with_a_shape.py:9:13: error: T.alloc_var makes one number of a dtype, got the shape (4,); use T.alloc_local(shape, dtype) for several
#     9 |         x = T.alloc_var((4,), "float32")
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
