"""From the caller's objects to what the runtime takes, without copying.

numpy arrays, torch CPU tensors and anything with DLPack become (address, shape, strides in
elements, dtype name, writable). Whether they fit the kernel is decided in C++.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tilewright.dtypes import canonical, is_dtype
from tilewright.errors import LanguageError


def is_torch(value: Any) -> bool:
    """True for a torch tensor, without importing torch."""
    return type(value).__module__.split(".")[0] == "torch" and hasattr(value, "data_ptr")


def convert_argument(value: Any, parameter: dict[str, Any]) -> Any:
    """`value` for the runtime; messages name the parameter."""
    if isinstance(value, bool | int | float):
        return value
    if is_torch(value):
        return _from_torch(value, parameter)
    import numpy

    if isinstance(value, numpy.ndarray):
        return _from_numpy(value, parameter)
    if isinstance(value, numpy.generic):
        return value.item()
    if hasattr(value, "__dlpack__"):
        return _from_numpy(numpy.from_dlpack(value), parameter)
    name, wanted = parameter["name"], describe_parameter(parameter)
    raise LanguageError(
        f"parameter '{name}': expected {wanted}, got a Python {type(value).__name__}"
    )


def describe_parameter(parameter: dict[str, Any]) -> str:
    """What a parameter expects, in words."""
    if parameter["kind"] == "scalar":
        return f"a number for {parameter['dtype']}"
    shape = " x ".join(str(extent) for extent in parameter["shape"])
    return f"a tensor of {parameter['dtype']}, shape {shape}"


def _from_numpy(array: Any, parameter: dict[str, Any]) -> Any:
    name = parameter["name"]
    if array.dtype.byteorder not in "=|<" or array.dtype.isnative is False:
        raise LanguageError(f"parameter '{name}': the array's bytes are not in native order")
    if not is_dtype(array.dtype):
        raise LanguageError(
            f"parameter '{name}': expected {describe_parameter(parameter)}, got an array of "
            f"{array.dtype}"
        )
    size = array.dtype.itemsize
    if any(stride % size for stride in array.strides):
        raise LanguageError(f"parameter '{name}': the array's strides are not whole elements")
    if parameter["kind"] == "scalar" and array.ndim == 0:
        return array.item()
    address, read_only = array.__array_interface__["data"]
    strides = tuple(stride // size for stride in array.strides)
    return (address, tuple(array.shape), strides, str(canonical(array.dtype)), not read_only)


def _from_torch(tensor: Any, parameter: dict[str, Any]) -> Any:
    name = parameter["name"]
    if tensor.device.type != "cpu":
        raise LanguageError(
            f"parameter '{name}': the tensor is on {tensor.device}, this kernel runs on the CPU",
            hint="use tensor.cpu()",
        )
    if not is_dtype(tensor.dtype):
        raise LanguageError(
            f"parameter '{name}': expected {describe_parameter(parameter)}, got a tensor of "
            f"{tensor.dtype}"
        )
    if parameter["kind"] == "scalar" and tensor.ndim == 0:
        return tensor.item()
    if hasattr(tensor, "is_neg") and tensor.is_neg():
        raise LanguageError(
            f"parameter '{name}': the tensor's values are the negative of its memory",
            hint="use tensor.resolve_neg()",
        )
    return (
        tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride()),
        str(canonical(tensor.dtype)), True,
    )  # fmt: skip


def output_maker(
    parameter: dict[str, Any], symbols: dict[str, int], like_torch: bool
) -> Callable[[], Any]:
    """Makes new tensors for a parameter that the runtime allocates."""
    shape = tuple(evaluate_extent(extent, symbols, parameter) for extent in parameter["shape"])
    kind = canonical(parameter["dtype"])
    if like_torch:
        import torch

        return partial(torch.empty, shape, dtype=kind.as_torch())
    import numpy

    return partial(numpy.empty, shape, kind.as_numpy())


def bind_symbols(parameters: list[dict[str, Any]], values: list[Any]) -> dict[str, int]:
    """The shape symbols that plain extents of the given tensors determine."""
    symbols: dict[str, int] = {}
    for parameter, value in zip(parameters, values, strict=True):
        actual = getattr(value, "shape", None)
        if parameter["kind"] != "tensor" or actual is None:
            continue
        for extent, given in zip(parameter["shape"], actual, strict=False):
            if isinstance(extent, str) and extent.isidentifier():
                symbols.setdefault(extent, int(given))
    return symbols


def evaluate_extent(extent: int | str, symbols: dict[str, int], parameter: dict[str, Any]) -> int:
    """The value of an extent, which is a number or a formula of symbols."""
    if isinstance(extent, int):
        return extent
    try:
        return int(eval(extent, {"__builtins__": {"min": min, "max": max}}, symbols))
    except NameError as error:
        raise LanguageError(
            f"output '{parameter['name']}': its extent '{extent}' is not determined by the inputs "
            f"({error})"
        ) from None
