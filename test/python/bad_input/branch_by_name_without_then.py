"""The statements of a T.If stand in its T.Then or T.Else."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1) as bx:
        with T.If(bx < 1):
            A[0] = 1


# --- report ---
# branch_by_name_without_then.py:9:14: error: 'with T.If(c):' holds 'with T.Then():', then perhaps 'with T.Else():', and nothing else; or write 'if c:'
#     9 |         with T.If(bx < 1):
#       |              ^^^^^^^^^^^^
