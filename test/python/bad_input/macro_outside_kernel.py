"""A macro has a meaning only inside a kernel."""

import tilelang.language as T


@T.macro
def zero(A):
    A[0] = 0

zero([1, 2, 3])


# --- report ---
# macro_outside_kernel.py:10:1: error: the macro 'zero' is called outside a kernel
#    10 | zero([1, 2, 3])
#       | ^^^^^^^^^^^^^^^
