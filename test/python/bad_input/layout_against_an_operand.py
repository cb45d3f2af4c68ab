"""A layout of a register operand whose tiles are spread over two warps."""

import tilewright
import tilewright.language as T


@T.prim_func
def main(A: T.Tensor((32, 16), "float16"), B: T.Tensor((16, 8), "float16"), C: T.Tensor((32, 8), "float32")):
    with T.Kernel(1, threads=64):
        a = T.alloc_fragment((32, 16), "float16")
        b = T.alloc_shared((16, 8), "float16")
        c = T.alloc_fragment((32, 8), "float32")
        T.annotate_layout(
            {a: T.Fragment((32, 16), lambda i, j: (i % 8 * 4 + j % 8 // 2 + i // 8 % 2 * 32, i // 16 * 4 + j // 8 * 2 + j % 2))}
        )
        T.copy(A, a)
        T.copy(B, b)
        T.clear(c)
        T.gemm(a, b, c)
        T.copy(c, C)


tilewright.compile(main, target="sm_80")


# --- report ---
# layout_against_an_operand.py:13:9: error: the layout of 'a' (32 x 16 float16) is none that 'T.gemm' reads A in: element (8, 0) lies in thread 32, the tensor cores need it in thread 0; leave the annotation out, or copy to a fragment that has this layout
#    13 |         T.annotate_layout(
#       |         ^^^^^^^^^^^^^^^^^^
# layout_against_an_operand.py:19:9: note: the gemm is here: each 16 x 16 tile of 'a' belongs to one warp, laid out as its instruction says
