"""All blocks meet in a loop."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        for i in T.serial(4):
            T.sync_grid()


# --- report ---
# sync_grid_in_a_loop.py:10:13: error: 'T.sync_grid' in a loop or branch is not supported; put it between the statements of the kernel, or launch several kernels
#    10 |             T.sync_grid()
#       |             ^^^^^^^^^^^^^
