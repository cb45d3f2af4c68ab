"""There is no such device."""

import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "float32"), k: T.int32):
    with T.Kernel(1):
        A[0] = A[0] + k


tilelang.compile(main, device="gpu")


# --- report ---
# device_misspelt.py:13:1: error: device 'gpu' does not exist; use interp, cpu, vgpu:sm_80, vgpu:sm_86, vgpu:sm_87, vgpu:sm_89, vgpu:sm_90, vgpu:sm_90a, vgpu:sm_100, vgpu:sm_103, vgpu:sm_110, vgpu:sm_120, vgpu:sm_121, cuda:0
#    13 | tilelang.compile(main, device="gpu")
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
