"""A layout's function is no function."""

import tilelang
import tilelang.language as T




T.Layout((8, 8), [0, 1])


# --- report ---
# layout_of_a_list.py:9:1: error: T.Layout: expected a function of the indices, got [0, 1]
#     9 | T.Layout((8, 8), [0, 1])
#       | ^^^^^^^^^^^^^^^^^^^^^^^^
