"""A target that does not exist."""

import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "int32")):
    with T.Kernel(1):
        A[0] = 1

tilelang.compile(main, target="vulkan")


# --- report ---
# unknown_target.py:12:1: error: unknown target 'vulkan'; use one of auto, cpu, cuda, llvm, c, sm_80, sm_90, sm_90a, interp, cpu, vgpu:sm_80, vgpu:sm_90, vgpu:sm_90a
#    12 | tilelang.compile(main, target="vulkan")
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
