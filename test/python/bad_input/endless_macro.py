"""A macro that calls itself without end."""

import tilelang.language as T


@T.macro
def count(A, n):
    A[0] = n
    count(A, n + 1)


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        count(A, 0)


# --- report ---
# endless_macro.py:9:5: error: the macro 'count' calls itself without end; a macro is inlined: its recursion must be decided by Python values
#     9 |     count(A, n + 1)
#       |     ^^^^^^^^^^^^^^^
# endless_macro.py:9:5: note: called from here
# endless_macro.py:15:9: note: called from here
