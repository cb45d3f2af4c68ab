"""An atomic on an int32 whose bytes a layout puts into different places."""

import tilewright
import tilewright.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=64):
        s = T.alloc_shared((256,), "int8")
        T.annotate_layout({s: T.Layout((256,), lambda i: [i % 4 * 64 + i // 4])})
        T.clear(s)
        words = T.view(s, (64,), "int32")
        for i in T.Parallel(64):
            T.atomic_add(words[i], A[i])
        T.copy(words, A)


tilewright.compile(main, target="sm_80")


# --- report ---
# atomic_on_scattered_bytes.py:15:13: error: an atomic on a view of 's': its int32 elements lie in pieces, where the layout of 's' puts those of int8; update the buffer itself, or leave the layout out
#    15 |             T.atomic_add(words[i], A[i])
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
