"""A slip in the name of a module."""

import tilelang.langauge as T


# --- report ---
# module_misspelt.py:3:1: error: there is no module 'tilelang.langauge'; did you mean 'tilelang.language'?
#     3 | import tilelang.langauge as T
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
