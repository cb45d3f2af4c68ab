"""`tilelang.cuda.intrinsics`: products in the memory of threads, and swizzles for them."""

from __future__ import annotations

from tilewright.language.emitters import (
    TensorCoreIntrinEmitter,
    get_swizzle_layout,
    make_mma_swizzle_layout,
)
from tilewright.support.not_part import refuse_names

__all__ = ["TensorCoreIntrinEmitter", "get_swizzle_layout", "make_mma_swizzle_layout"]

#: The emitters of other instructions.
__getattr__ = refuse_names(
    "tilelang.cuda.intrinsics", "T.gemm picks the instructions; kernel.ptx shows them"
)
