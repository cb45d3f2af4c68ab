"""`PrimExpr` and the classes of constants and variables, as programs test values for them."""

from __future__ import annotations

from typing import Any

from tilewright.frontend.trace import KERNEL_SCALARS, Element, IndexExpr, Var


class _Kind(type):
    """A class by what its instances are, not by who made them."""

    accepts: tuple[type, ...]

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, cls.accepts)


class PrimExpr(metaclass=_Kind):
    """Any value that is known only when the kernel runs."""

    accepts = tuple(sorted(KERNEL_SCALARS, key=lambda kind: kind.__name__))


class VarKind(metaclass=_Kind):
    """A variable of a kernel, or a symbol of a shape."""

    accepts = (Var, IndexExpr)


class BufferLoad(metaclass=_Kind):
    """An element of a tensor or tile that is read."""

    accepts = (Element,)


class IntImm(metaclass=_Kind):
    """A constant: a Python number here. `IntImm(dtype, value)` makes one of that type."""

    accepts = (int,)

    def __new__(cls, dtype: Any, value: int) -> Any:
        from tilewright.compat.tvm.tirx import const

        return const(int(value), dtype)


class FloatImm(metaclass=_Kind):
    """A constant: a Python number here. `FloatImm(dtype, value)` makes one of that type."""

    accepts = (float,)

    def __new__(cls, dtype: Any, value: float) -> Any:
        from tilewright.compat.tvm.tirx import const

        return const(float(value), dtype)


class StringImm(metaclass=_Kind):
    """A text constant: a Python string here."""

    accepts = (str,)

    def __new__(cls, value: str) -> Any:
        return str(value)
