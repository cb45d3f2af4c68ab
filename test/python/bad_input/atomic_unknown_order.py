"""A memory order that does not exist."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "int32")):
    with T.Kernel(1):
        T.atomic_add(A[0], 1, memory_order="strong")


# --- report ---
# atomic_unknown_order.py:9:9: error: 'T.atomic_add': memory_order is one of relaxed, consume, acquire, release, acq_rel, seq_cst; got 'strong'
#     9 |         T.atomic_add(A[0], 1, memory_order="strong")
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
