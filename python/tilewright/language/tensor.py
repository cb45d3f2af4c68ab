"""Types for parameters: `T.Tensor`."""

from __future__ import annotations

from typing import Any, NamedTuple

from tilewright.support.errors import LanguageError, reporting
from tilewright.types.dtypes import is_dtype
from tilewright.types.tensor_type import StridedTensorType, TensorType


class Storage(NamedTuple):
    """`A.data`: the memory of a buffer, for a `T.Tensor` of another shape over it."""

    buffer: Any


def _over(shape: Any, dtype: Any, data: Any) -> Any:
    """`T.Tensor(shape, dtype, A.data)` in a kernel: the memory of A under another shape."""
    from tilewright.language.tiles import view

    if not isinstance(data, Storage):
        raise LanguageError(f"T.Tensor: data must be the 'data' of a buffer, got {data!r}")
    return view(data.buffer, shape, dtype)


class _TensorMeta(type):
    @reporting
    def __call__(
        cls, shape: Any, dtype: Any = "float32", data: Any = None, *, scope: str = "global"
    ) -> Any:
        if data is not None:
            return _over(shape, dtype, data)
        if scope != "global":
            raise LanguageError(f"a T.Tensor lives in global memory, not in '{scope}'")
        return TensorType(shape, dtype)

    @reporting
    def __getitem__(cls, item: Any) -> TensorType:
        if (
            isinstance(item, tuple)
            and len(item) == 2
            and (isinstance(item[0], list | tuple) or is_dtype(item[1]))
        ):
            return TensorType(item[0], item[1])
        return TensorType(item)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TensorType)


class Tensor(metaclass=_TensorMeta):
    """A tensor parameter in global memory.

    `T.Tensor((M, N), "float16")` annotates a parameter of a `T.prim_func`;
    `A: T.Tensor[[M, N], dtype]` declares one in the body of an eager kernel.
    Extents are ints, `T.const` or `T.dynamic` symbols, or expressions of them. The tensor is
    contiguous (row-major) unless `T.annotate_layout` gives it another physical order.

    Example:
        @T.prim_func
        def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64,), "float32")):
            with T.Kernel(1, threads=64):
                for i in T.Parallel(64):
                    B[i] = A[i, i]
    """


class _StridedMeta(type):
    @reporting
    def __call__(
        cls, shape: Any, strides: Any, dtype: Any = "float32", scope: str | None = None
    ) -> StridedTensorType:
        if scope not in (None, "global"):
            raise LanguageError(f"a T.StridedTensor lives in global memory, not in '{scope}'")
        return StridedTensorType(shape, strides, dtype)

    @reporting
    def __getitem__(cls, item: Any) -> StridedTensorType:
        if not isinstance(item, tuple) or len(item) not in (2, 3):
            raise LanguageError(f"T.StridedTensor takes [shape, strides, dtype], got {item!r}")
        return StridedTensorType(*item)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, StridedTensorType)


class StridedTensor(metaclass=_StridedMeta):
    """A tensor parameter whose rows lie apart: `T.StridedTensor((M, N), (stride, 1), dtype)`.

    Strides count elements; they are ints, `T.dynamic` symbols (which may be known from a stride
    alone) or expressions of them. Where the caller's tensor is not dense, a call packs it before
    the kernel runs, and writes it back after it if the kernel writes it.

    Example:
        @T.prim_func
        def main(A: T.StridedTensor((64, 64), (64, 1), "float32"), B: T.Tensor((64, 64))):
            with T.Kernel(1, threads=128):
                T.copy(A, B)
    """


class Buffer(metaclass=_TensorMeta):
    """The old name of `T.Tensor`.

    Example:
        @T.prim_func
        def main(A: T.Buffer((64, 64), "float16"), B: T.Buffer((64,), "float32")):
            with T.Kernel(1, threads=64):
                for i in T.Parallel(64):
                    B[i] = A[i, i]
    """


class _OnChipType:
    """The annotation of a macro parameter that is a tile; documentation only."""

    def __init__(self, shape: Any = None, dtype: Any = None) -> None:
        self.shape, self.dtype = shape, dtype

    def __class_getitem__(cls, item: Any) -> type[_OnChipType]:
        return cls


class SharedBuffer(_OnChipType):
    """Annotates a macro parameter that takes a shared tile.

    Example:
        @T.macro
        def double(x: T.SharedBuffer):
            for i in T.Parallel(64):
                x[i] = x[i] * 2.0

        @T.prim_func
        def main(A: T.Tensor((64,), "float32")):
            with T.Kernel(1, threads=64):
                x = T.alloc_shared((64,), "float32")
                T.copy(A, x)
                double(x)
                T.copy(x, A)
    """


class FragmentBuffer(_OnChipType):
    """Annotates a macro parameter that takes a fragment.

    Example:
        @T.macro
        def double(x: T.FragmentBuffer):
            for i in T.Parallel(64):
                x[i] = x[i] * 2.0

        @T.prim_func
        def main(A: T.Tensor((64,), "float32")):
            with T.Kernel(1, threads=64):
                x = T.alloc_fragment((64,), "float32")
                T.copy(A, x)
                double(x)
                T.copy(x, A)
    """


class LocalBuffer(_OnChipType):
    """Annotates a macro parameter that takes a thread's own tile.

    Example:
        @T.macro
        def fill_two(x: T.LocalBuffer):
            for k in T.serial(4):
                x[k] = 2.0

        @T.prim_func
        def main(A: T.Tensor((64, 4), "float32")):
            with T.Kernel(1, threads=64):
                tx = T.get_thread_binding()
                x = T.alloc_local((4,), "float32")
                fill_two(x)
                for k in T.serial(4):
                    A[tx, k] = x[k]
    """
