"""A tile cannot be chosen at run time."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32"), C: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        source = A if C[0] > 0 else B
        T.copy(source, C)


# --- report ---
# no_such_tile_branch.py:9:18: error: a conditional expression on a run-time value cannot choose the tile 'A'; only scalars can be chosen at run time; write an 'if' statement
#     9 |         source = A if C[0] > 0 else B
#       |                  ^^^^^^^^^^^^^^^^^^^^
