"""`T.prim_func` on something else."""

import tilelang.language as T


main = T.prim_func(42)


# --- report ---
# not_a_function.py:6:8: error: 'T.prim_func' expects a function, got the Python number 42
#     6 | main = T.prim_func(42)
#       |        ^^^^^^^^^^^^^^^
