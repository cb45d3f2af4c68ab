"""A slip in a name of the package."""

import tilelang


@tilelang.jti
def main():
    pass


# --- report ---
# attribute_misspelt.py:6:2: error: module 'tilewright' has no attribute 'jti'; did you mean 'tilewright.jit'?
#     6 | @tilelang.jti
#       |  ^^^^^^^^^^^^
