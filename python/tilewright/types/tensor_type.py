"""Types of kernel parameters: what `T.Tensor(...)` makes."""

from __future__ import annotations

from typing import Any

from tilewright.support.errors import LanguageError
from tilewright.types.dtypes import NARROW, canonical, dtype, narrow_name

_LARGEST_EXTENT = 1 << 48


def check_shape(shape: Any, what: str, *, allow_zero: bool = False) -> tuple[Any, ...]:
    """`shape` as a tuple of extents (ints or symbols); refuses everything else."""
    from tilewright._core import core

    if isinstance(shape, int) or type(shape) in (core.IndexExpr, core.Expr):
        shape = (shape,)
    try:
        if isinstance(shape, str):
            raise TypeError  # a sequence, but not of extents
        extents = tuple(shape)
    except TypeError:
        raise LanguageError(f"{what}: expected a shape such as (64, 128), got {shape!r}") from None
    return tuple(_check_extent(e, position, what, allow_zero) for position, e in enumerate(extents))


def _check_extent(extent: Any, position: int, what: str, allow_zero: bool) -> Any:
    from tilewright._core import core

    where = f"{what}: extent {position}"
    if type(extent) in (core.IndexExpr, core.Expr) or hasattr(extent, "tw_constant_name"):
        return extent
    if isinstance(extent, float):
        if extent != extent:
            raise LanguageError(f"{where} is not a number (NaN)")
        hint = "use // for a division that gives an integer" if extent == int(extent) else None
        raise LanguageError(f"{where} must be an integer, got {extent!r}", hint=hint)
    if isinstance(extent, bool) or not hasattr(type(extent), "__index__"):
        raise LanguageError(f"{where} must be an integer or a T.dynamic symbol, got {extent!r}")
    try:
        value = int(extent.__index__())
    except TypeError:  # an array
        text = f"{where} must be an integer, got a Python {type(extent).__name__}"
        raise LanguageError(text, hint="an array has its extents in '.shape'") from None
    if value < 0 or (value == 0 and not allow_zero):
        raise LanguageError(f"{where} must be positive, got {value}")
    if value > _LARGEST_EXTENT:
        raise LanguageError(f"{where} is {value}, more than the largest allowed 2**48")
    return value


class TensorType:
    """A tensor in global memory: shape and element type of a kernel parameter."""

    def __init__(self, shape: Any, element: Any = "float32") -> None:
        self.has_addresses = type(element).__name__ == "PointerType"  # T.ptr
        element = "int64" if self.has_addresses else element
        narrow = narrow_name(element)
        self.dtype: dtype = canonical(element) if narrow is None else NARROW[narrow]
        self.shape = check_shape(shape, "T.Tensor", allow_zero=True)
        if narrow is not None and not self.shape:
            raise LanguageError(f"T.Tensor of {narrow}: such numbers are stored in rows")

    def __repr__(self) -> str:
        return f"T.Tensor({self.shape}, {str(self.dtype)!r})"


class StridedTensorType(TensorType):
    """A tensor whose elements lie `strides` apart in memory."""

    def __init__(self, shape: Any, strides: Any, element: Any = "float32") -> None:
        super().__init__(shape, element)
        self.strides = check_shape(strides, "T.StridedTensor: strides", allow_zero=True)
        if len(self.strides) != len(self.shape):
            raise LanguageError(
                f"T.StridedTensor: {len(self.shape)} extents and {len(self.strides)} strides"
            )

    def __repr__(self) -> str:
        return f"T.StridedTensor({self.shape}, {self.strides}, {str(self.dtype)!r})"
