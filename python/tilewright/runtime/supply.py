"""How generated inputs are filled, with TileLang's names and distributions.

Tensors are torch's where the script has imported torch, else numpy's; random numbers come from the
generator of that library, so that `tilelang.testing.set_random_seed` makes them repeatable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from tilewright.runtime.arguments import evaluate_extent, loaded_torch
from tilewright.support.errors import LanguageError
from tilewright.types.kernel_param import KernelParam


class TensorSupplyType(Enum):
    """Distributions of generated tensors."""

    Integer = 1
    Uniform = 2
    Normal = 3
    Randn = 4
    Zero = 5
    One = 6
    Auto = 7


def get_tensor_supply(
    supply_type: TensorSupplyType = TensorSupplyType.Integer, device: str | None = None
) -> Callable[..., Any]:
    """A function that makes a tensor for a parameter; its second argument gives run-time sizes.

    With a GPU as the `device`, torch's tensors are made there, if torch drives it."""

    if not isinstance(supply_type, TensorSupplyType):
        names = ", ".join(TensorSupplyType.__members__)
        hint = f"use a member of tilelang.TensorSupplyType: {names}"
        raise LanguageError(f"unknown kind of inputs {supply_type!r}", hint=hint)

    def supply(parameter: KernelParam, sizes: Mapping[str, int] | None = None) -> Any:
        if parameter.is_scalar():
            raise LanguageError(
                f"parameter '{parameter.name}' is a number, which cannot be generated",
                hint="pass input_tensors, supply_prog or tilelang.autotuner.set_autotune_inputs",
            )
        shape = tuple(_evaluate(extent, dict(sizes or {}), parameter) for extent in parameter.shape)
        values = _fill(supply_type, str(parameter.dtype), shape)
        return _to_library(values, parameter.dtype, device)

    return supply


def _evaluate(extent: int | str, sizes: dict[str, int], parameter: KernelParam) -> int:
    try:
        return evaluate_extent(extent, sizes, {"name": parameter.name})
    except LanguageError:
        raise LanguageError(
            f"parameter '{parameter.name}': its extent '{extent}' is known only at run time",
            hint="pass dynamic_symbolic_constraints={'name': size}, or input_tensors",
        ) from None


def _fill(supply_type: TensorSupplyType, dtype: str, shape: tuple[int, ...]) -> Any:
    """Numbers of the distribution, as float64 or integers."""
    import numpy as np

    is_float = "float" in dtype
    if supply_type is TensorSupplyType.Auto:
        is_wide = is_float and "float8" not in dtype
        supply_type = TensorSupplyType.Uniform if is_wide else TensorSupplyType.Integer
    if supply_type is TensorSupplyType.Zero:
        return np.zeros(shape)
    if supply_type is TensorSupplyType.Integer:
        least, most = (0, 2) if dtype.startswith("uint") else (-2, 2)
        if dtype == "bool":
            least, most = 0, 1
        if "float8" in dtype:
            least, most = -128, 127
        return _random("randint", least, most + 1, shape)
    if supply_type is TensorSupplyType.One or not is_float:
        return np.ones(shape)
    if supply_type is TensorSupplyType.Uniform:
        return _random("uniform", -1.0, 1.0, shape)
    mean = -1.0 if supply_type is TensorSupplyType.Normal else 0.0  # as TileLang has it
    return _random("normal", mean, 1.0, shape)


def _random(kind: str, first: float, second: float, shape: tuple[int, ...]) -> Any:
    """Random numbers of torch's generator if it is loaded, else of numpy's."""
    import numpy as np

    torch = loaded_torch()
    if torch is None:
        return getattr(np.random, kind)(first, second, shape)
    if kind == "randint":
        return torch.randint(first, second, shape).numpy()
    if kind == "uniform":
        return torch.empty(shape, dtype=torch.float64).uniform_(first, second).numpy()
    return torch.empty(shape, dtype=torch.float64).normal_(first, second).numpy()


def _to_library(values: Any, dtype: Any, device: str | None) -> Any:
    torch = loaded_torch()
    if torch is not None:
        tensor = torch.from_numpy(values).to(dtype.as_torch())
        return tensor.to(device) if device and torch.cuda.is_available() else tensor
    return values.astype(dtype.as_numpy())
