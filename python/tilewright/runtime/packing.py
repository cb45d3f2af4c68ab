"""Tensors of `T.StridedTensor` parameters: a kernel gets them dense.

Rows that lie apart are copied together before a launch, and back after it if the kernel writes
them; what lies between the rows is never touched. The runtime sees the strides of the caller's
tensor, from which shape symbols may take their values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilewright.runtime.arguments import convert_argument, is_torch
from tilewright.support.errors import LanguageError


class Packed:
    """The arguments of one call in which strided tensors are replaced by dense copies."""

    def __init__(self) -> None:
        self._back: list[Callable[[], Any]] = []
        self._views: list[tuple[dict[str, Any], Any]] = []

    def convert(self, value: Any, parameter: dict[str, Any], on_cuda: bool = False) -> Any:
        """As `convert_argument`; a strided tensor becomes a dense copy with its old strides."""
        converted = convert_argument(value, parameter, on_cuda)
        self._views.append((parameter, converted))
        if not parameter.get("is_strided") or not isinstance(converted, tuple):
            return converted
        _, shape, strides, *_ = converted
        if _is_dense(shape, strides) or 0 in shape:
            return converted
        dense, copy_back = _dense_copy(value, parameter)
        if parameter["is_written"]:
            if not converted[4]:
                return (*converted, "packed")  # read-only: the runtime refuses it
            self._back.append(copy_back)
        address, shape, _, dtype, writable, is_on_gpu = convert_argument(dense, parameter, on_cuda)
        self._back.append(lambda: dense)  # keeps the copy alive
        return (address, shape, strides, dtype, writable, is_on_gpu, "packed")

    def check_overlaps(self) -> None:
        """Refuses a tensor that is written and shares elements with another one, where one of the
        two is a copy during the launch."""
        tensors = [(p, view) for p, view in self._views if isinstance(view, tuple) and view[0]]
        for number, (parameter, view) in enumerate(tensors):
            for other, other_view in tensors[number + 1 :]:
                is_copied = any(
                    p.get("is_strided") and not _is_dense(v[1], v[2])
                    for p, v in ((parameter, view), (other, other_view))
                )
                written = parameter.get("is_written") or other.get("is_written")
                if is_copied and written and _share_memory(view, other_view):
                    raise LanguageError(
                        f"parameter '{other['name']}': shares memory with '{parameter['name']}', "
                        "and the kernel writes one of them",
                        hint="pass a copy",
                    )

    def write_back(self) -> None:
        """Copies what the kernel has written to the caller's tensors."""
        for action in self._back:
            action()


def with_strides_of(original: Any, converted: Any, parameter: dict[str, Any]) -> Any:
    """`converted`, a dense copy of `original`, as the runtime takes it for a strided parameter."""
    if not parameter.get("is_strided") or not isinstance(converted, tuple):
        return converted
    strides = convert_argument(original, parameter, on_cuda=True)[2]
    return (*converted[:2], strides, *converted[3:6], "packed")


def _is_dense(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    expected = 1
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True


def _dense_copy(value: Any, parameter: dict[str, Any]) -> tuple[Any, Callable[[], Any]]:
    """A dense copy, and what copies it back."""
    if is_torch(value):
        dense = value.detach().contiguous()
        return dense, lambda: value.detach().copy_(dense)
    import numpy

    if not isinstance(value, numpy.ndarray):
        raise LanguageError(
            f"parameter '{parameter['name']}': rows that lie apart are only taken from numpy "
            "arrays and torch tensors",
            hint="pass a contiguous copy",
        )
    array = numpy.array(value, order="C")
    return array, lambda: numpy.copyto(value, array)


def _share_memory(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    """Whether two tensors have a byte in common; true where that is too hard to tell."""
    import numpy

    from tilewright.types.dtypes import canonical

    views = []
    for address, shape, strides, dtype, *_ in (a, b):
        size = canonical(dtype).bytes
        interface = {
            "data": (address, True),
            "shape": shape,
            "strides": tuple(stride * size for stride in strides),
            "typestr": f"|V{size}",
            "version": 3,
        }
        holder = type("Holder", (), {"__array_interface__": interface})()
        views.append(numpy.asarray(holder))
    try:
        return bool(numpy.shares_memory(*views, max_work=100_000))
    except numpy.exceptions.TooHardError:
        return True
