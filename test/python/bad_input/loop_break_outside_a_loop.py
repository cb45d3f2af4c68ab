"""There is nothing to leave."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1) as bx:
        if bx == 0:
            T.loop_break()


# --- report ---
# loop_break_outside_a_loop.py:10:13: error: 'T.loop_break()' is a statement in a 'for' or 'while' loop
#    10 |             T.loop_break()
#       |             ^^^^^^^^^^^^^^
