"""From the caller's objects to what the runtime takes, without copying.

numpy arrays, torch tensors and anything with DLPack or the interface of CUDA arrays become
(address, shape, strides in elements, dtype name, writable, on a GPU). Whether they fit the kernel
is decided in C++.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from tilewright.support.errors import LanguageError
from tilewright.types.dtypes import NARROW, canonical, is_dtype


def is_torch(value: Any) -> bool:
    """True for a torch tensor, also of a class of the user's own, without importing torch."""
    return hasattr(value, "data_ptr") and any(
        base.__module__.split(".")[0] == "torch" for base in type(value).__mro__
    )


def loaded_torch() -> Any:
    """The real torch if the program has imported it; never imports it."""
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "Tensor") else None


def uses_torch(inputs: list[Any]) -> bool:
    """Whether a call returns torch's tensors: it is given some, or no tensors at all while torch is
    loaded."""
    if any(is_torch(value) for value in inputs):
        return True
    return loaded_torch() is not None and not any(hasattr(value, "shape") for value in inputs)


def convert_argument(value: Any, parameter: dict[str, Any], on_cuda: bool = False) -> Any:
    """`value` for the runtime; messages name the parameter. `on_cuda`: a GPU runs the kernel, and
    can be given tensors that live there."""
    if isinstance(value, bool | int | float):
        return value
    if value is None and parameter["kind"] == "tensor":
        return None  # the runtime knows whether the kernel uses it
    if "narrow" in parameter and parameter["kind"] == "tensor":
        value = _as_bytes(value)
    if is_torch(value):
        return _from_torch(value, parameter, on_cuda)
    if hasattr(value, "__cuda_array_interface__"):
        return _from_cuda(value.__cuda_array_interface__, parameter, on_cuda)
    import numpy

    if issubclass(type(value), numpy.ndarray):
        return _from_numpy(value, parameter)
    if isinstance(value, numpy.generic):
        return value.item()
    name, wanted = parameter["name"], describe_parameter(parameter)
    if hasattr(value, "__dlpack__"):
        try:
            array = numpy.from_dlpack(value)
        except Exception as error:  # whatever the other library raises
            kind = type(value).__name__
            raise LanguageError(
                f"parameter '{name}': a {kind} that cannot be used in place ({error})"
            ) from None
        return _hold(_from_numpy(array, parameter), array)
    raise LanguageError(
        f"parameter '{name}': expected {wanted}, got a Python {type(value).__name__}"
    )


class _Held(tuple):
    """A converted tensor that keeps the owner of its memory: what another library exports may live
    only as long as the export."""

    owner: Any


def _hold(converted: Any, owner: Any) -> Any:
    if not isinstance(converted, tuple):
        return converted
    held = _Held(converted)
    held.owner = owner
    return held


def _as_bytes(value: Any) -> Any:
    """A tensor of packed numbers, two in a byte, as one of uint8."""
    if is_torch(value):
        import torch

        packed = (torch.int8, getattr(torch, "float4_e2m1fn_x2", torch.int8))
        return value.view(torch.uint8) if value.dtype in packed else value
    import numpy

    is_signed = isinstance(value, numpy.ndarray) and value.dtype == numpy.int8
    return value.view(numpy.uint8) if is_signed else value


def describe_parameter(parameter: dict[str, Any]) -> str:
    """What a parameter expects, in words."""
    if parameter["kind"] == "scalar":
        return f"a number for {parameter['dtype']}"
    shape = " x ".join(str(extent) for extent in parameter["shape"])
    return f"a tensor of {parameter['dtype']}, shape {shape}"


def _from_numpy(array: Any, parameter: dict[str, Any]) -> Any:
    import numpy

    has_mask = hasattr(array, "mask")
    if type(array) is not numpy.ndarray:  # a class of the user's may say anything of itself
        array = numpy.ndarray.view(array, numpy.ndarray)
    _check_dtype(array.dtype, parameter)
    if has_mask:
        raise LanguageError(
            f"parameter '{parameter['name']}': a kernel does not see the array's mask",
            hint="pass array.filled(value), or array.data to use all elements",
        )
    if parameter["kind"] == "scalar" and array.ndim == 0:
        return array.item()
    address, read_only = array.__array_interface__["data"]
    strides = _in_elements(array.strides, array.dtype, parameter)
    dtype = str(canonical(array.dtype))
    return (address, tuple(array.shape), strides, dtype, not read_only, False)


def _check_dtype(dtype: Any, parameter: dict[str, Any]) -> None:
    """Refuses what is no dtype of the language, in this machine's order of bytes."""
    name = parameter["name"]
    if dtype.byteorder not in "=|<" or dtype.isnative is False:
        raise LanguageError(f"parameter '{name}': the array's bytes are not in native order")
    if not is_dtype(dtype):
        raise LanguageError(
            f"parameter '{name}': expected {describe_parameter(parameter)}, got an array of {dtype}"
        )


def _in_elements(strides: Any, dtype: Any, parameter: dict[str, Any]) -> tuple[int, ...]:
    if any(stride % dtype.itemsize for stride in strides):
        raise LanguageError(
            f"parameter '{parameter['name']}': the array's strides are not whole elements"
        )
    return tuple(stride // dtype.itemsize for stride in strides)


def _from_cuda(interface: dict[str, Any], parameter: dict[str, Any], on_cuda: bool) -> Any:
    """An array of another library (CuPy, Numba) in memory of a GPU."""
    import numpy

    name = parameter["name"]
    if not on_cuda:
        raise LanguageError(
            f"parameter '{name}': the array is on a GPU, this kernel does not run there",
            hint="compile with device='cuda', or pass a copy in main memory",
        )
    dtype, shape = numpy.dtype(interface["typestr"]), tuple(interface["shape"])
    _check_dtype(dtype, parameter)
    strides = interface.get("strides")
    if strides is None:  # in rows, without gaps
        step, found = dtype.itemsize, []
        for extent in reversed(shape):
            found.append(step)
            step *= extent
        strides = tuple(reversed(found))
    address, read_only = interface["data"]
    elements = _in_elements(strides, dtype, parameter)
    return (address or 0, shape, elements, str(canonical(dtype)), not read_only, True)


def _from_torch(tensor: Any, parameter: dict[str, Any], on_cuda: bool) -> Any:
    name = parameter["name"]
    # A tensor in main memory may say "cuda" (compat/torch/without_gpu.py), but `is_cpu` holds.
    location = "cpu" if getattr(tensor, "is_cpu", False) else tensor.device.type
    if location != "cpu" and not (on_cuda and location == "cuda"):
        where = "on a GPU" if on_cuda else "on the CPU"
        raise LanguageError(
            f"parameter '{name}': the tensor is on {tensor.device}, this kernel runs {where}",
            hint="use tensor.cpu()",
        )
    if not is_dtype(tensor.dtype):
        raise LanguageError(
            f"parameter '{name}': expected {describe_parameter(parameter)}, got a tensor of "
            f"{tensor.dtype}"
        )
    layout = "nested" if tensor.is_nested else str(tensor.layout).removeprefix("torch.")
    if layout != "strided":
        raise LanguageError(
            f"parameter '{name}': the tensor has no memory of rows and columns, it is {layout}",
            hint="use tensor.to_dense()",
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
        str(canonical(tensor.dtype)), True, location == "cuda",
    )  # fmt: skip


def get_stream(values: list[Any]) -> int:
    """The stream of the GPU on which a kernel must wait for these arguments: torch's current one,
    or the one an array names; 0, the default stream, waits for all."""
    for value in values:
        if is_torch(value) and value.device.type == "cuda":
            import torch

            return torch.cuda.current_stream(value.device).cuda_stream
        if hasattr(value, "__cuda_array_interface__"):
            return value.__cuda_array_interface__.get("stream") or 0
    return 0


def output_maker(
    parameter: dict[str, Any], symbols: dict[str, int], inputs: list[Any]
) -> Callable[[], Any]:
    """Makes new tensors for a parameter that the runtime allocates: torch's as `uses_torch` says,
    on the GPU if an input is there."""
    shape = tuple(evaluate_extent(extent, symbols, parameter) for extent in parameter["shape"])
    kind = NARROW[parameter["narrow"]] if "narrow" in parameter else canonical(parameter["dtype"])
    devices = {value.device.type: value.device for value in inputs if is_torch(value)}
    if uses_torch(inputs):
        import torch

        device = devices.get("cuda", "cpu" if devices else _device_of_outputs())
        return partial(torch.empty, shape, dtype=kind.as_torch(), device=device)
    import numpy

    return partial(numpy.empty, shape, kind.as_numpy())


def _device_of_outputs() -> str:
    """Where torch's tensors are made if a call is given none: where there is no GPU and tensors in
    main memory stand for those of one (compat/torch/devices.py), there."""
    stand_in = sys.modules.get("tilewright.compat.torch.devices")
    return "cuda" if stand_in is not None and stand_in.is_active() else "cpu"


def bind_symbols(parameters: list[dict[str, Any]], converted: list[Any]) -> dict[str, int]:
    """The shape symbols that plain extents of the given tensors (None: not given) determine."""
    symbols: dict[str, int] = {}
    for parameter, value in zip(parameters, converted, strict=True):
        if parameter["kind"] != "tensor" or value is None:
            continue
        name, wanted = parameter["name"], describe_parameter(parameter)
        if not isinstance(value, tuple):
            raise LanguageError(f"parameter '{name}': expected {wanted}, got a number")
        shape = value[1]
        if len(shape) != len(parameter["shape"]):
            raise LanguageError(
                f"parameter '{name}': expected {wanted}, got rank {len(shape)}, shape {shape}"
            )
        for extent, given in zip(parameter["shape"], shape, strict=True):
            if isinstance(extent, str) and extent.isidentifier():
                symbols.setdefault(extent, int(given))
    return symbols


def evaluate_extent(extent: int | str, symbols: dict[str, int], parameter: dict[str, Any]) -> int:
    """The value of an extent, which is a number or a formula of symbols."""
    if isinstance(extent, int):
        return extent
    subject = f"output '{parameter['name']}': its extent '{extent}'"
    try:
        value = int(eval(extent, {"__builtins__": {"min": min, "max": max}}, symbols))
    except NameError as error:
        raise LanguageError(f"{subject} is not determined by the inputs ({error})") from None
    except ZeroDivisionError:
        raise LanguageError(f"{subject} divides by 0") from None
    if value < 0:
        raise LanguageError(f"{subject} is {value}")
    return value
