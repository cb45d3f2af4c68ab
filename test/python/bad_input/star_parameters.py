"""A kernel has a fixed list of parameters."""

import tilelang.language as T


@T.prim_func
def main(*tensors):
    with T.Kernel(1):
        pass


# --- report ---
# star_parameters.py:7:11: error: a kernel has a fixed list of parameters; '*' and '**' are not allowed
#     7 | def main(*tensors):
#       |           ^^^^^^^
