"""The policy is text."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1):
        a = T.alloc_shared((64, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.gemm(a, a, c, policy="square")


# --- report ---
# gemm_policy_as_text.py:11:9: error: 'T.gemm': unknown policy 'square'
#    11 |         T.gemm(a, a, c, policy="square")
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
