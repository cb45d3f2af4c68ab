"""Atomic updates of global and shared memory."""

from __future__ import annotations

from typing import Any

from tilewright.frontend.trace import Buffer, Element, describe, is_scalar
from tilewright.language.kernel import _in_kernel
from tilewright.language.ramps import Gathered, places_of
from tilewright.language.vectors import Vector
from tilewright.support.errors import LanguageError

_ORDERS = ("relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst")


def _atomic(
    what: str, kind: str, dst: Any, value: Any, memory_order: str | None, return_prev: bool
) -> Any:
    state = _in_kernel(what)
    if type(dst) not in (Buffer, Element):
        raise LanguageError(
            f"'{what}': the destination must be an element or region of a tensor, got "
            f"{describe(dst)}",
            hint="pass A[i, j]; in a macro, annotate the parameter with T.Ref",
        )
    if type(value) is not Buffer and not is_scalar(value):
        raise LanguageError(
            f"'{what}': the value must be a scalar or a tile, got {describe(value)}"
        )
    order = memory_order or "relaxed"
    if order not in _ORDERS:
        raise LanguageError(f"'{what}': memory_order is one of {', '.join(_ORDERS)}; got {order!r}")
    if return_prev and (type(dst) is Buffer or type(value) is Buffer):
        raise LanguageError(f"'{what}': return_prev is only possible for one element")
    return state.core.atomic(kind, dst, value, order, bool(return_prev))


def atomic_add(
    dst: Any,
    value: Any,
    memory_order: str | None = None,
    return_prev: bool = False,
    use_tma: bool = False,
    annotations: dict[str, Any] | None = None,
) -> Any:
    """Adds to an element (`dst[i, j]`), or a tile to a region, atomically per element.

    `return_prev=True` (one element) gives the value before. `memory_order` is "relaxed" unless
    said otherwise. How many elements an instruction adds is the compiler's choice.

    Example:
        for i, j in T.Parallel(64, 64):
            T.atomic_add(B[0, j], A[i, j])
    """
    return _atomic("T.atomic_add", "add", dst, value, memory_order, return_prev)


def atomic_max(
    dst: Any, value: Any, memory_order: str | None = None, return_prev: bool = False
) -> Any:
    """Atomic maximum; see `T.atomic_add`.

    Example:
        for i, j in T.Parallel(64, 64):
            T.atomic_max(N[0, j], i)
    """
    return _atomic("T.atomic_max", "max", dst, value, memory_order, return_prev)


def atomic_min(
    dst: Any, value: Any, memory_order: str | None = None, return_prev: bool = False
) -> Any:
    """Atomic minimum; see `T.atomic_add`.

    Example:
        for i, j in T.Parallel(64, 64):
            T.atomic_min(N[0, j], i)
    """
    return _atomic("T.atomic_min", "min", dst, value, memory_order, return_prev)


def atomic_and(
    dst: Any, value: Any, memory_order: str | None = None, return_prev: bool = False
) -> Any:
    """Atomic bitwise and of integers; see `T.atomic_add`.

    Example:
        for i, j in T.Parallel(64, 64):
            T.atomic_and(N[0, j], i)
    """
    return _atomic("T.atomic_and", "and", dst, value, memory_order, return_prev)


def atomic_or(
    dst: Any, value: Any, memory_order: str | None = None, return_prev: bool = False
) -> Any:
    """Atomic bitwise or of integers; see `T.atomic_add`.

    Example:
        for i, j in T.Parallel(64, 64):
            T.atomic_or(N[0, j], i)
    """
    return _atomic("T.atomic_or", "or", dst, value, memory_order, return_prev)


def atomic_xor(
    dst: Any, value: Any, memory_order: str | None = None, return_prev: bool = False
) -> Any:
    """Atomic bitwise exclusive or of integers; see `T.atomic_add`.

    Example:
        for i, j in T.Parallel(64, 64):
            T.atomic_xor(N[0, j], i)
    """
    return _atomic("T.atomic_xor", "xor", dst, value, memory_order, return_prev)


def _one_element(what: str, element: Any) -> Any:
    """`element` as the element that an atomic read or write is about."""
    if type(element) is Buffer and all(extent == 1 for extent in element.shape):
        element = element[(0,) * element.ndim]
    if type(element) is not Element:
        raise LanguageError(f"'{what}' needs an element, A[i, j], got {describe(element)}")
    return element


def atomic_load(src: Any, memory_order: str = "seq_cst") -> Any:
    """Reads an element that other blocks may be writing with atomics.

    It adds the number that changes nothing, so that the tensor counts as written.

    Example:
        B[i, j] = T.atomic_load(A[i, j])
    """
    what = "T.atomic_load"
    if memory_order not in _ORDERS[:3] and memory_order != "seq_cst":
        raise LanguageError(
            f"'{what}': memory_order is relaxed, consume, acquire or seq_cst; got {memory_order!r}"
        )
    element = _one_element(what, src)
    nothing = -0.0 if "float" in element.dtype_name else 0
    return _atomic(what, "add", element, nothing, memory_order, True)


def atomic_store(dst: Any, src: Any, memory_order: str = "seq_cst") -> None:
    """Writes an element that other blocks may be reading or updating with atomics.

    `memory_order` is "relaxed", "release" or "seq_cst": after "release", who reads the value with
    "acquire" also sees what was written before it. Iterations of a `T.Parallel` may store only
    equal values to one element.

    Example:
        T.atomic_store(N[0, 0], 1, memory_order="release")
    """
    what = "T.atomic_store"
    if memory_order not in ("relaxed", "release", "seq_cst"):
        raise LanguageError(
            f"'{what}': memory_order is relaxed, release or seq_cst; got {memory_order!r}"
        )
    if not is_scalar(src):
        raise LanguageError(f"'{what}' stores a scalar, got {describe(src)}")
    _atomic(what, "exchange", _one_element(what, dst), src, memory_order, False)


def _adjacent(what: str, count: int, dst: Any, value: Any, return_prev: bool) -> Any:
    if return_prev or isinstance(dst, Gathered) or isinstance(value, Vector):
        values = (
            list(value) if isinstance(value, Vector) else places_of(what, value, count)
        )  # each addition is atomic by itself
        return Vector(
            [
                _atomic(what, "add", place, addend, None, True)
                for place, addend in zip(places_of(what, dst, count), values, strict=True)
            ]
        )
    if type(dst) is Element:
        dst = dst.run(count)
    if type(value) is Element:
        value = value.run(count)
    return _atomic(what, "add", dst, value, None, False)


def atomic_addx2(dst: Any, value: Any, return_prev: bool = False) -> Any:
    """Adds two adjacent elements; each addition is atomic. `return_prev=True` gives the two values
    before, as a packed value.

    Example:
        for i, j in T.Parallel(64, 32):
            T.atomic_addx2(B[i, 2 * j], A[i, 2 * j])
    """
    return _adjacent("T.atomic_addx2", 2, dst, value, return_prev)


def atomic_addx4(dst: Any, value: Any, return_prev: bool = False) -> Any:
    """Adds four adjacent elements; each addition is atomic; see `T.atomic_addx2`.

    Example:
        for i, j in T.Parallel(64, 16):
            T.atomic_addx4(B[i, 4 * j], A[i, 4 * j])
    """
    return _adjacent("T.atomic_addx4", 4, dst, value, return_prev)
