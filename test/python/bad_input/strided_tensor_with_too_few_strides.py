"""Each dimension has a stride."""

import tilelang.language as T

T.StridedTensor((64, 32), (32,), "float32")


# --- report ---
# strided_tensor_with_too_few_strides.py:5:1: error: T.StridedTensor: 2 extents and 1 strides
#     5 | T.StridedTensor((64, 32), (32,), "float32")
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
