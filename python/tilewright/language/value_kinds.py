"""`T.PrimExpr`, `T.Var` and the classes of constants, as programs test values for them.

TileLang's values are objects of TVM; here a constant is a Python number and a value of a kernel is
what tracing made. The classes answer `isinstance`, and those of constants and symbols make them.
"""

from __future__ import annotations

from typing import Any

from tilewright.frontend import trace
from tilewright.frontend.trace import KERNEL_SCALARS, Element, IndexExpr
from tilewright.frontend.trace import Var as _Variable
from tilewright.language.scalars import dynamic
from tilewright.types.dtypes import canonical


class Kind(type):
    """A class by what its instances are, not by who made them."""

    accepts: tuple[type, ...]

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, cls.accepts)


class PrimExpr(metaclass=Kind):
    """Any value that is known only when the kernel runs.

    Example:
        def half(x: T.PrimExpr):
            return x / 2 if isinstance(x, T.PrimExpr) else 0.5 * x

        @T.prim_func
        def main(A: T.Tensor((64,), "float32")):
            with T.Kernel(1, threads=64):
                for i in T.Parallel(64):
                    A[i] = half(A[i]) + half(3)
    """

    accepts = tuple(sorted(KERNEL_SCALARS, key=lambda kind: kind.__name__))


class Var(metaclass=Kind):
    """A symbol of a shape, or a variable of a kernel; `T.Var(name, dtype)` makes a symbol.

    Example:
        n = T.Var("n", "int32")
        assert isinstance(n, T.Var) and not isinstance(64, T.Var)

        @T.prim_func
        def main(A: T.Tensor((n,), "float32")):
            with T.Kernel(T.ceildiv(n, 64), threads=64) as bx:
                for i in T.Parallel(64):
                    A[bx * 64 + i] = 1.0
    """

    accepts = (_Variable, IndexExpr)

    def __new__(cls, name: str, dtype: Any = "int32", span: Any = None) -> Any:
        return dynamic(name, dtype)


class BufferLoad(metaclass=Kind):
    """An element of a tensor or tile that is read.

    Example:
        @T.prim_func
        def main(A: T.Tensor((64,), "float32")):
            with T.Kernel(1, threads=64):
                for i in T.Parallel(64):
                    A[i] = A[i] if isinstance(A[i], T.BufferLoad) else 0.0
    """

    accepts = (Element,)


class IntImm(metaclass=Kind):
    """A constant: a Python number here. `T.IntImm(dtype, value)` makes one of that type.

    Example:
        @T.prim_func
        def main(A: T.Tensor((64,), "int64")):
            with T.Kernel(1, threads=64):
                for i in T.Parallel(64):
                    A[i] = T.IntImm("int64", 3)
    """

    accepts = (int,)

    def __new__(cls, dtype: Any, value: int, span: Any = None) -> Any:
        return canonical(dtype)(int(value)) if trace.active() else int(value)


class FloatImm(metaclass=Kind):
    """A constant: a Python number here. `T.FloatImm(dtype, value)` makes one of that type.

    Example:
        @T.prim_func
        def main(A: T.Tensor((64,), "float16")):
            with T.Kernel(1, threads=64):
                for i in T.Parallel(64):
                    A[i] = A[i] * T.FloatImm("float16", 0.5)
    """

    accepts = (float,)

    def __new__(cls, dtype: Any, value: float, span: Any = None) -> Any:
        return canonical(dtype)(float(value)) if trace.active() else float(value)


class StringImm(metaclass=Kind):
    """A text constant: a Python string here.

    Example:
        assert isinstance("shared", T.StringImm)
    """

    accepts = (str,)

    def __new__(cls, value: str, span: Any = None) -> Any:
        return str(value)
