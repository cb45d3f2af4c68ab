"""A fragment's elements have no address."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        f = T.alloc_fragment((64,), "float32")
        T.clear(f)
        for i in T.Parallel(64):
            T.atomic_add(f[i], A[i])


# --- report ---
# atomic_on_a_fragment.py:12:13: error: 'T.atomic_add' updates global or shared memory, got 'f' (64 float32), which lives in a fragment
#    12 |             T.atomic_add(f[i], A[i])
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^
