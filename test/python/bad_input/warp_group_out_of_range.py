"""There are as many warp groups as threads make."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        with T.ws(1):
            T.fill(A, 0.0)


# --- report ---
# warp_group_out_of_range.py:9:14: error: 'T.ws(1)': a block of 64 threads has 1 warp groups of 128
#     9 |         with T.ws(1):
#       |              ^^^^^^^
