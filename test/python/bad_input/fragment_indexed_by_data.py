"""A fragment indexed by a value that no unrolling makes static."""

import tilelang.language as T


@T.prim_func
def main(I: T.Tensor((64,), "int32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        f = T.alloc_fragment((64,), "float32")
        T.clear(f)
        for k in T.serial(64):
            B[k] = f[I[k]]


# --- report ---
# fragment_indexed_by_data.py:12:13: error: 'f' is a fragment: its index must be known after unrolling, got a loaded value; use 'T.alloc_shared'
#    12 |             B[k] = f[I[k]]
#       |             ^^^^^^^^^^^^^^
# fragment_indexed_by_data.py:9:9: note: 'f' is allocated here
