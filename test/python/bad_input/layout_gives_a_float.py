"""A layout that computes with floats."""

import tilelang.language as T


layout = T.Layout((64,), lambda i: [0.5])


# --- report ---
# layout_gives_a_float.py:6:10: error: T.Layout: the function must give integer expressions of the indices, got 0.5
#     6 | layout = T.Layout((64,), lambda i: [0.5])
#       |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
