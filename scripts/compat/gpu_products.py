"""Products and quotients in torch's references, as GPUs compute them.

Torch sums products of float16 on the CPU in a plain loop: 4096 x 4096 x 4096 takes minutes. A GPU
sums them in float32 and rounds once, which is also quick here.

A tensor over a number is a product with the number's inverse in torch's CUDA kernels
(aten/src/ATen/native/cuda/BinaryDivTrueKernel.cu: "if the second operand is a CPU scalar, compute
a * reciprocal(b)"), and a quotient in its CPU kernels. A case whose comparison fails runs once more
with the former; the page lists those that are right only then.

Only the references of the code bases see this; kernels do not call torch.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_aten = torch.ops.aten
_PRODUCTS = {
    _aten.mm.default, _aten.bmm.default, _aten.addmm.default, _aten.baddbmm.default,
    _aten.mv.default, _aten.dot.default, _aten.convolution.default,
    _aten.convolution_backward.default,
}  # fmt: skip


def _wide(value: Any) -> Any:
    if isinstance(value, torch.Tensor) and value.dtype == torch.float16:
        return value.float()
    return value


def _divide(tensor: torch.Tensor, number: float) -> torch.Tensor:
    """A tensor over a number, by its inverse in the type that torch's CUDA kernels compute in."""
    wide = torch.float64 if tensor.dtype == torch.float64 else torch.float32
    inverse = torch.ones((), dtype=wide) / torch.tensor(number, dtype=wide)
    return (tensor.to(wide) * inverse).to(tensor.dtype)


class AsOnGpu(TorchDispatchMode):
    """Computes products of float16 in float32; with `quotients` also tensors over numbers as
    products."""

    def __init__(self, quotients: bool = False) -> None:
        super().__init__()
        self._quotients = quotients

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        tensors = [value for value in args if isinstance(value, torch.Tensor)]
        is_half = any(value.dtype == torch.float16 for value in tensors)
        if self._quotients and func is _aten.div.Tensor and type(args[1]) in (int, float):
            if args[0].is_floating_point():
                return _divide(args[0], args[1])
        if func not in _PRODUCTS or not is_half:
            return func(*args, **kwargs)
        result = func(*map(_wide, args), **{name: _wide(value) for name, value in kwargs.items()})
        if isinstance(result, tuple):
            return tuple(part if part is None else part.half() for part in result)
        return result.half()
