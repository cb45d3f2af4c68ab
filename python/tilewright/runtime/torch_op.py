"""Kernels as operators of torch, which `torch.compile` traces through.

relu_gemm = tilewright.torch_op(kernel)      # "tilewright::NAME"
y = torch.compile(lambda a, b: relu_gemm(a, b) + 1)(a, b)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tilewright.support.errors import LanguageError, reporting
from tilewright.types.dtypes import canonical

if TYPE_CHECKING:
    from tilewright.runtime.kernel import JITKernel

#: What torch's schemas call a number of each class of dtype.
_NUMBERS = {"bool": "bool", "float": "float", "bfloat": "float", "tfloat": "float"}


@reporting
def torch_op(kernel: JITKernel, name: str | None = None) -> Callable[..., Any]:
    """Registers a kernel as the operator "tilewright::NAME" of torch and gives it.

    It is called like the kernel: outputs (`out_idx`) are allocated and returned, other tensors that
    the kernel writes are changed in place, and torch is told so. `name` is the kernel's unless it
    is given; it may have a namespace of its own ("mine::gemm").
    """
    import torch

    if any("narrow" in parameter or "pointed" in parameter for parameter in kernel.params):
        raise LanguageError(
            f"'{kernel.name}' has elements of less than a byte, or addresses; torch has no such "
            "operator"
        )
    name = name or kernel.name
    full = name if "::" in name else f"tilewright::{name}"
    inputs = [p for n, p in enumerate(kernel.params) if n not in kernel.out_idx]
    written = [p["name"] for p in inputs if p["kind"] == "tensor" and p["is_written"]]

    def run(*arguments: Any) -> Any:
        result = kernel(*arguments)
        return tuple(result) if isinstance(result, list) else result

    operator = torch.library.custom_op(
        full, run, mutates_args=written, schema=_schema(kernel, inputs)
    )

    @operator.register_fake
    def fake(*arguments: Any) -> Any:
        symbols = _symbols(inputs, arguments)
        like = next((a for a in arguments if isinstance(a, torch.Tensor)), None)
        made = []
        for position in kernel.out_idx:
            parameter = kernel.params[position]
            shape = [_extent(extent, symbols, parameter) for extent in parameter["shape"]]
            dtype = canonical(parameter["dtype"]).as_torch()
            new = torch.empty if like is None else like.new_empty  # where the inputs are
            made.append(new(shape, dtype=dtype))
        return tuple(made) if len(made) > 1 else made[0] if made else None

    return operator


def _schema(kernel: JITKernel, inputs: list[dict[str, Any]]) -> str:
    """The operator's type, in torch's notation: `(Tensor A, Tensor(a0!) C, float s) -> Tensor`."""
    parameters = []
    for number, parameter in enumerate(inputs):
        if parameter["kind"] == "tensor":
            kind = f"Tensor(a{number}!)" if parameter["is_written"] else "Tensor"
        else:
            kind = _NUMBERS.get(re.match(r"[a-z]+", parameter["dtype"])[0], "SymInt")
        parameters.append(f"{kind} {parameter['name']}")
    outputs = ["Tensor"] * len(kernel.out_idx)
    result = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"
    return f"({', '.join(parameters)}) -> {result}"


def _symbols(inputs: list[dict[str, Any]], arguments: tuple[Any, ...]) -> dict[str, Any]:
    """The shape symbols that plain extents give; torch's own symbols are kept as they are."""
    symbols: dict[str, Any] = {}
    for parameter, argument in zip(inputs, arguments, strict=True):
        if parameter["kind"] == "tensor":
            for extent, given in zip(parameter["shape"], argument.shape, strict=True):
                if isinstance(extent, str) and extent.isidentifier():
                    symbols.setdefault(extent, given)
    return symbols


def _extent(extent: int | str, symbols: dict[str, Any], parameter: dict[str, Any]) -> Any:
    if isinstance(extent, int):
        return extent
    try:
        return eval(extent, {"__builtins__": {"min": min, "max": max}}, symbols)
    except NameError as error:
        text = (
            f"output '{parameter['name']}': its extent '{extent}' is not determined by the inputs"
        )
        raise LanguageError(f"{text} ({error})") from None
