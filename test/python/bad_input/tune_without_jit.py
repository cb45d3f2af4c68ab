"""@autotune on a plain function."""

import tilelang
import tilelang.language as T




@tilelang.autotune(configs=[{"n": 1}])
def plain(n):
    return n


# --- report ---
# tune_without_jit.py:9:2: error: 'autotune' decorates a function under @tilelang.jit, got function; put @tilelang.jit below it
#     9 | @tilelang.autotune(configs=[{"n": 1}])
#       |  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
