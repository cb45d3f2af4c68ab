"""A misspelt option."""

import tilelang


@tilelang.jit(pass_configs={"tl.enable_fastmath": True})
def make(n):
    pass


# --- report ---
# unknown_pass_config.py:6:2: error: unknown pass config 'tl.enable_fastmath'; did you mean 'tl.enable_fast_math'?
#     6 | @tilelang.jit(pass_configs={"tl.enable_fastmath": True})
#       |  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
