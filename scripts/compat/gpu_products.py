"""Products in torch's references, as GPUs compute them.

Torch sums products of float16 on the CPU in a plain loop: 4096 x 4096 x 4096 takes minutes. A GPU
sums them in float32 and rounds once, which is also quick here. Only the references of the code
bases see this; kernels do not call torch.
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


class AsOnGpu(TorchDispatchMode):
    """Computes products of float16 in float32."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        tensors = [value for value in args if isinstance(value, torch.Tensor)]
        is_half = any(value.dtype == torch.float16 for value in tensors)
        if func not in _PRODUCTS or not is_half:
            return func(*args, **kwargs)
        result = func(*map(_wide, args), **{name: _wide(value) for name, value in kwargs.items()})
        if isinstance(result, tuple):
            return tuple(part if part is None else part.half() for part in result)
        return result.half()
