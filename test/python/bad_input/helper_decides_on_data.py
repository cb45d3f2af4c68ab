"""A plain helper function cannot branch on an element of a tile."""

import tilelang.language as T


def positive(x):
    if x > 0:
        return x
    return 0


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        for i in T.Parallel(64):
            A[i] = positive(A[i])


# --- report ---
# helper_decides_on_data.py:7:8: error: this value is only known when the kernel runs, so Python cannot decide on it; inside a kernel use 'if', 'and', 'or', 'T.if_then_else' directly on it
#     7 |     if x > 0:
#       |        ^^^^^
# helper_decides_on_data.py:6: note: 'positive' runs as plain Python; make it a @T.macro to trace its control flow
# helper_decides_on_data.py:16:20: note: called from here
