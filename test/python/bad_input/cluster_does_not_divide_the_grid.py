"""Clusters are whole."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.ClusterKernel(3, cluster_dims=2, threads=64) as bx:
        A[bx] = 1.0


# --- report ---
# cluster_does_not_divide_the_grid.py:8:10: error: grid extent 0 of T.ClusterKernel is 3, not a multiple of the cluster's 2
#     8 |     with T.ClusterKernel(3, cluster_dims=2, threads=64) as bx:
#       |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
