"""A pointer is to the memory of a buffer."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        T.tvm_access_ptr(T.type_annotation("float32"), A[0], 0, 4, 1)


# --- report ---
# pointer_without_memory.py:9:9: error: 'T.tvm_access_ptr' takes T.type_annotation(dtype) and the data of a buffer, got T.float32 and a run-time value of type float32
#     9 |         T.tvm_access_ptr(T.type_annotation("float32"), A[0], 0, 4, 1)
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
