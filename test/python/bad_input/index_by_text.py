"""A tensor is indexed by text."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        A["x"] = 1.0


# --- report ---
# index_by_text.py:9:9: error: index: expected a number or a kernel value, got a Python 'str'
#     9 |         A["x"] = 1.0
#       |         ^^^^^^
