"""A lambda has no statements to trace."""

import tilelang.language as T


main = T.prim_func(lambda A: None)


# --- report ---
# lambda_as_kernel.py:6:8: error: a lambda cannot be a kernel; define it with 'def'
#     6 | main = T.prim_func(lambda A: None)
#       |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^
