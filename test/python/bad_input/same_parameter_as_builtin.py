"""A kernel parameter of a type of Python's."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "int32"), k: list):
    with T.Kernel(1):
        A[0] = k


# --- report ---
# same_parameter_as_builtin.py:7:38: error: parameter 'k': expected T.Tensor(...) or a dtype such as T.int32 as its type, got <class 'list'>
#     7 | def main(A: T.Tensor((4,), "int32"), k: list):
#       |                                      ^^^^^^^
