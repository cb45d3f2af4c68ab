"""Comparisons of tensors, under TileLang's names."""

from __future__ import annotations

from typing import Any

from tilewright.compat import refuse_rest
from tilewright.runtime.supply import TensorSupplyType, get_tensor_supply
from tilewright.types.dtypes import dtype

__all__ = ["TensorSupplyType", "get_tensor_supply", "map_torch_type", "torch_assert_close"]


def map_torch_type(intype: Any) -> Any:
    """The torch dtype of that name, as earlier TileLang versions have it."""
    return dtype(intype).as_torch()


def torch_assert_close(
    tensor_a: Any,
    tensor_b: Any,
    rtol: float = 1e-2,
    atol: float = 1e-3,
    max_mismatched_ratio: float = 0.001,
    verbose: bool = False,
    equal_nan: bool = True,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    base_name: str = "LHS",
    ref_name: str = "RHS",
) -> bool:
    """Asserts that two torch tensors agree, but for a share of at most `max_mismatched_ratio`."""
    import torch

    for wanted, what in (
        (True, "shape"), (check_device, "device"), (check_dtype, "dtype"), (check_layout, "layout"),
    ):  # fmt: skip
        a, b = getattr(tensor_a, what), getattr(tensor_b, what)
        if wanted and a != b:
            raise AssertionError(f"{base_name} has {what} {a}, {ref_name} has {b}")
    if check_stride and tensor_a.stride() != tensor_b.stride():
        raise AssertionError(
            f"{base_name} has strides {tensor_a.stride()}, {ref_name} has {tensor_b.stride()}"
        )
    differs = ~torch.isclose(
        tensor_a.float(), tensor_b.float(), rtol=rtol, atol=atol, equal_nan=equal_nan
    )
    count, total = int(differs.sum()), differs.numel()
    if verbose:
        print(f"{count} of {total} elements differ")
    if count > max_mismatched_ratio * total:
        index = tuple(int(i) for i in differs.nonzero()[0])
        raise AssertionError(
            f"{count} of {total} elements differ, first at {index}: {base_name} has "
            f"{tensor_a[index].item()}, {ref_name} has {tensor_b[index].item()}"
        )
    return True


refuse_rest(__name__)
