"""An iteration draws a fixed number of random numbers."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 4), "uint32")):
    with T.Kernel(1):
        T.rng_init(7)
        for i in T.Parallel(64):
            for j in T.serial(4):
                A[i, j] = T.rng_rand()


# --- report ---
# random_number_in_an_inner_loop.py:12:27: error: random numbers in a loop inside T.Parallel are not supported yet; make the inner loop a dimension of T.Parallel
#    12 |                 A[i, j] = T.rng_rand()
#       |                           ^^^^^^^^^^^^
