"""Functions in CUDA source text cannot run."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        for i in T.Parallel(64):
            A[i] = T.call_extern("float16", "__float2half_rx", A[i])


# --- report ---
# call_extern_unknown_function.py:10:20: error: 'T.call_extern': the function '__float2half_rx' is not supported: functions in CUDA source text cannot run here; did you mean '__float2half_rz'?
#    10 |             A[i] = T.call_extern("float16", "__float2half_rx", A[i])
#       |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
