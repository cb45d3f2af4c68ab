"""A parameter is annotated with something that is no type of the language."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "float32"), n: list):
    with T.Kernel(1):
        A[0] = 1.0


# --- report ---
# parameter_of_unknown_type.py:7:40: error: parameter 'n': expected T.Tensor(...) or a dtype such as T.int32 as its type, got <class 'list'>
#     7 | def main(A: T.Tensor((8,), "float32"), n: list):
#       |                                        ^^^^^^^
