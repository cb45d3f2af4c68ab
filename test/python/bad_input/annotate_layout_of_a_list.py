"""Layouts are given in a dictionary."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        T.annotate_layout([A])


# --- report ---
# annotate_layout_of_a_list.py:9:9: error: 'T.annotate_layout' takes a dict {buffer: layout}, got a Python list
#     9 |         T.annotate_layout([A])
#       |         ^^^^^^^^^^^^^^^^^^^^^^
