"""A dictionary of the script lacks a key."""

import tilelang.language as T

SIZES = {"n": 64}


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        A[0] = SIZES["m"]


# --- report ---
# missing_key_of_a_dictionary.py:11:16: error: key 'm' not found
#    11 |         A[0] = SIZES["m"]
#       |                ^^^^^^^^^^
