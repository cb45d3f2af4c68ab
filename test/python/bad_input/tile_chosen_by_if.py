"""A tile cannot be chosen at run time by an `if` either."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32"), C: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        source = A
        if C[0] > 0:
            source = B
        T.copy(source, C)


# --- report ---
# tile_chosen_by_if.py:12:16: error: 'source' is the tile 'B' after one branch of the 'if' at line 10 and the tile 'A' after the other; only scalars can be chosen at run time
#    12 |         T.copy(source, C)
#       |                ^^^^^^
