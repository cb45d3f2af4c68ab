"""A layout of an accumulator that no tensor-core instruction has."""

import tilewright
import tilewright.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=64):
        a = T.alloc_shared((64, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.annotate_layout({c: T.Fragment((64, 64), lambda i, j: (i, j))})
        T.copy(A, a)
        T.clear(c)
        T.gemm(a, a, c)
        T.copy(c, C)


tilewright.compile(main, target="sm_80")


# --- report ---
# layout_against_an_accumulator.py:12:9: error: the layout of 'c' (64 x 64 float32) is none that 'T.gemm' accumulates in: element (0, 2) lies in thread 0, the tensor cores need it in thread 1; leave the annotation out, or copy to a fragment that has this layout
#    12 |         T.annotate_layout({c: T.Fragment((64, 64), lambda i, j: (i, j))})
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
# layout_against_an_accumulator.py:15:9: note: the gemm is here: each 16 x 8 tile of 'c' belongs to one warp, laid out as its instruction says
