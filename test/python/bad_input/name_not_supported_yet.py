"""A name of TileLang that is not supported yet."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64) as bx:
        A[bx] = T.call_extern("float32", "f")


# --- report ---
# name_not_supported_yet.py:9:17: error: 'T.call_extern' is not supported yet; functions in CUDA source text cannot run here; write it in the language
#     9 |         A[bx] = T.call_extern("float32", "f")
#       |                 ^^^^^^^^^^^^^
