"""A kernel is not a generator."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        yield A[0]


# --- report ---
# generator_as_kernel.py:9:9: error: 'yield' has no meaning in a kernel: a kernel is not a generator
#     9 |         yield A[0]
#       |         ^^^^^^^^^^
