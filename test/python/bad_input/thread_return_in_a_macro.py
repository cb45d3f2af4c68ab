"""A macro can only return to its caller."""

import tilelang.language as T


@T.macro
def leave(A):
    T.thread_return()


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        leave(A)


# --- report ---
# thread_return_in_a_macro.py:8:5: error: 'T.thread_return()' is a statement in a kernel's own function, not in a macro
#     8 |     T.thread_return()
#       |     ^^^^^^^^^^^^^^^^^
# thread_return_in_a_macro.py:14:9: note: called from here
