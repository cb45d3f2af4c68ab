"""An async function as a kernel."""

import tilelang.language as T


@T.prim_func
async def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        A[0] = 1.0


# --- report ---
# async_kernel.py:7:1: error: an 'async def' cannot be a kernel
#     7 | async def main(A: T.Tensor((64,), "float32")):
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
