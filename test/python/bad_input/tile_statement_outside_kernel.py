"""A statement of the language in plain Python."""

import tilelang.language as T


T.alloc_shared((8,), "float32")


# --- report ---
# tile_statement_outside_kernel.py:6:1: error: 'T.alloc_shared' is only allowed inside a kernel; call it from a function decorated with @T.prim_func, @T.macro or @tilelang.jit
#     6 | T.alloc_shared((8,), "float32")
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
