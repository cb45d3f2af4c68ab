"""A name that the language does not have, close to one it has."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        T.paralel(64)


# --- report ---
# unknown_language_name.py:9:9: error: the language has no 'T.paralel'; did you mean 'T.Parallel'?
#     9 |         T.paralel(64)
#       |         ^^^^^^^^^
