"""Element types as values: `T.float16`, `T.dtype("int8")`.

A dtype is a string (its canonical name), so it can be passed wherever a name can; it also compares
equal to the numpy and torch dtypes of the same meaning. Calling one converts: `T.int32(x)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilewright.support.errors import LanguageError

# name: bits. `tfloat32` is stored as float32 and rounded to 10 mantissa bits where a gemm uses it.
_BITS: dict[str, int] = {
    "bool": 8,
    "int8": 8,
    "int16": 16,
    "int32": 32,
    "int64": 64,
    "uint8": 8,
    "uint16": 16,
    "uint32": 32,
    "uint64": 64,
    "float16": 16,
    "bfloat16": 16,
    "float32": 32,
    "float64": 64,
    "tfloat32": 32,
    "float8_e4m3fn": 8,
    "float8_e5m2": 8,
}

_ALIASES: dict[str, str] = {
    "boolean": "bool",
    "bool_": "bool",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "uint": "uint32",
    "half": "float16",
    "fp16": "float16",
    "bf16": "bfloat16",
    "float": "float32",
    "fp32": "float32",
    "double": "float64",
    "fp64": "float64",
    "tf32": "tfloat32",
    "fp8": "float8_e4m3fn",
    "e4m3_float8": "float8_e4m3fn",
    "float8_e4m3": "float8_e4m3fn",
    "e5m2_float8": "float8_e5m2",
}

# Types TileLang has and Tilewright does not have yet: a clear message instead of "unknown".
_UNSUPPORTED_PREFIXES = ("int1", "int2", "int4", "uint1", "uint2", "uint4", "float4", "float6")
_UNSUPPORTED_SUFFIXES = ("fnuz", "fnu", "unpacked")

# Types of four bits, which the front end keeps in others (language/narrow.py), by what torch has.
_NARROW_STORAGE: dict[str, str] = {"int4": "int8", "uint4": "uint8", "float4_e2m1fn": "int8"}

# Types that a program may name (as the format of packed bytes), but not store or compute with; and
# those of four bits.
_NAMED_BITS: dict[str, int] = {
    "int1": 1, "int2": 2, "int4": 4, "uint1": 1, "uint2": 2, "uint4": 4, "float4_e2m1fn": 4,
    "float8_e8m0fnu": 8, "float8_e4m3fnuz": 8, "float8_e5m2fnuz": 8,
}  # fmt: skip

_ML_DTYPES = ("bfloat16", "float8_e4m3fn", "float8_e5m2")


class dtype(str):  # noqa: N801 - the language calls it `T.dtype`
    """An element type; a `str` whose text is the canonical name.

    >>> T.dtype("float") == T.float32 == "float32" == numpy.dtype("float32")
    True
    """

    __slots__ = ()
    _known: dict[str, dtype] = {}  # noqa: RUF012 - the one table of interned dtypes

    def __new__(cls, value: Any) -> dtype:
        name = _spelling(value)
        return NAMED[name] if name in NAMED else canonical(value)

    @property
    def bits(self) -> int:
        """Width of one element in bits (bool takes a byte)."""
        return _BITS.get(str(self)) or _NAMED_BITS[str(self)]

    @property
    def bytes(self) -> int:
        """Width of one element in bytes."""
        return -(-self.bits // 8)

    @property
    def itemsize(self) -> int:
        """Width of one element in bytes, under numpy's and torch's name."""
        return self.bytes

    @property
    def lanes(self) -> int:
        """Always 1: vector widths are the compiler's choice."""
        return 1

    def is_float(self) -> bool:
        """True for float16, bfloat16, float32, float64, tfloat32 and the 8-bit floats."""
        return "float" in str(self)

    def is_integer(self) -> bool:
        """True for the signed and unsigned integers, not for bool."""
        return "int" in str(self)

    def as_numpy(self) -> Any:
        """The numpy dtype (from `ml_dtypes` for bfloat16 and the 8-bit floats)."""
        import numpy

        name = "float32" if self == "tfloat32" else str(self)
        name = _NARROW_STORAGE.get(name, name)
        if name in _ML_DTYPES:
            import ml_dtypes

            return numpy.dtype(getattr(ml_dtypes, name))
        return numpy.dtype(name)

    def as_torch(self) -> Any:
        """The torch dtype; needs torch (or the stand-in of `tw run`)."""
        import torch

        name = "float32" if self == "tfloat32" else str(self)
        packed = getattr(torch, f"{name}_x2", None)  # two of four bits
        return packed or getattr(torch, _NARROW_STORAGE.get(name, name))

    def __call__(self, value: Any) -> Any:
        """Converts a kernel value, or makes a typed constant of a Python number."""
        if _convert is None:
            raise outside_kernel(self)
        return _convert(value, self)

    def __eq__(self, other: object) -> bool:
        if type(other) is dtype:
            return str.__eq__(self, other)
        name = _spelling(other)
        return name is not None and _ALIASES.get(name, name) == str(self)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return str.__hash__(self)

    def __str__(self) -> str:
        return str.__str__(self)

    def __repr__(self) -> str:
        return f"T.{str.__str__(self)}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (canonical, (str.__str__(self),))


#: What calling a dtype does in a kernel. The language, which lies above this room, puts it here.
_convert: Callable[[Any, dtype], Any] | None = None


def set_conversion(convert: Callable[[Any, dtype], Any]) -> None:
    """Lets `convert(value, dtype)` serve calls of dtypes."""
    global _convert
    _convert = convert


def outside_kernel(kind: dtype) -> LanguageError:
    """The error for a call of a dtype where no kernel is being traced."""
    return LanguageError(
        f"'T.{kind}(...)' is only allowed inside a kernel", hint="a Python number needs no type"
    )


def _spelling(value: object) -> str | None:
    """How `value` names a dtype: its text, or None if it is no dtype at all."""
    if isinstance(value, str):
        return str.__str__(value)
    if value is bool or value is int or value is float:
        return value.__name__  # type: ignore[union-attr]
    module = type(value).__module__.split(".")[0]
    if module == "torch":
        return str(value).removeprefix("torch.") if type(value).__name__ == "dtype" else None
    if module in ("numpy", "ml_dtypes") and hasattr(value, "itemsize") and hasattr(value, "name"):
        return str(value.name)
    if isinstance(value, type) and value.__module__.split(".")[0] in ("numpy", "ml_dtypes"):
        return value.__name__
    return None


def canonical(value: Any) -> dtype:
    """The dtype that a name, a numpy or torch dtype, or a Python type stands for."""
    if type(value) is dtype and str(value) in _BITS:
        return value
    name = _spelling(value)
    if name is None:
        raise LanguageError(f"expected a dtype, got {value!r}", hint='write T.float16 or "float16"')
    name = _ALIASES.get(name, name)
    known = dtype._known.get(name)
    if known is not None:
        return known
    if name.startswith(_UNSUPPORTED_PREFIXES) or name.endswith(_UNSUPPORTED_SUFFIXES):
        raise LanguageError(f"dtype '{name}' is not supported yet")
    if "x" in name and name.split("x")[0] in _BITS:
        raise LanguageError(
            f"vector dtype '{name}' is not supported",
            hint="use the scalar type; Tilewright picks the vector width",
        )
    from tilewright.support.suggest import hint_for

    raise LanguageError(f"unknown dtype '{name}'", hint=hint_for(name, [*_BITS, *_ALIASES]))


def narrow_name(value: Any) -> str | None:
    """The name of a type of four bits; None for all else."""
    name = _spelling(value)
    name = "float4_e2m1fn" if name == "float4_e2m1fn_x2" else name
    return name if name in _NARROW_STORAGE else None


def is_dtype(value: Any) -> bool:
    """True if `value` names a supported dtype in any of the accepted spellings."""
    name = _spelling(value)
    return name is not None and _ALIASES.get(name, name) in _BITS


for _name in _BITS:
    dtype._known[_name] = str.__new__(dtype, _name)

#: Dtypes that have a name and a width, and nothing else.
NAMED: dict[str, dtype] = {name: str.__new__(dtype, name) for name in _NAMED_BITS}

#: The dtypes of four bits.
NARROW: dict[str, dtype] = {name: NAMED[name] for name in _NARROW_STORAGE}

#: Every dtype the language exports, under canonical names and aliases.
EXPORTED: dict[str, dtype] = dict(dtype._known)
for _alias in ("int", "uint", "float", "half", "short", "long", "double", "float8_e4m3", "fp8"):
    EXPORTED[_alias] = dtype._known[_ALIASES[_alias]]
