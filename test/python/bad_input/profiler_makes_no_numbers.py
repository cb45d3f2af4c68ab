"""The profiler cannot make up a number."""

import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "float32"), k: T.int32):
    with T.Kernel(1):
        A[0] = A[0] + k


tilelang.compile(main).get_profiler().do_bench()


# --- report ---
# profiler_makes_no_numbers.py:13:1: error: parameter 'k' is a number, which cannot be generated; pass input_tensors, supply_prog or tilelang.autotuner.set_autotune_inputs
#    13 | tilelang.compile(main).get_profiler().do_bench()
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
