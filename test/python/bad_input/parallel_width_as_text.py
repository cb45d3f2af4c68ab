import tilewright
import tilewright.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        for i in T.Parallel(64, coalesced_width="4"):
            A[i] = 1.0


tilewright.compile(main)


# --- report ---
# parallel_width_as_text.py:8:18: error: coalesced_width of T.Parallel must be an integer, got '4'
#     8 |         for i in T.Parallel(64, coalesced_width="4"):
#       |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
