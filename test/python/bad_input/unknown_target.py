"""A target that does not exist."""

import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "int32")):
    with T.Kernel(1):
        A[0] = 1

tilelang.compile(main, target="vulkan")


# --- report ---
# unknown_target.py:12:1: error: unknown target 'vulkan'; use one of auto, cpu, cuda, llvm, c, sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a, sm_100, sm_103, sm_110, sm_120, sm_121, interp, cpu, vgpu:sm_80, vgpu:sm_86, vgpu:sm_87, vgpu:sm_89, vgpu:sm_90, vgpu:sm_90a, vgpu:sm_100, vgpu:sm_103, vgpu:sm_110, vgpu:sm_120, vgpu:sm_121
#    12 | tilelang.compile(main, target="vulkan")
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
