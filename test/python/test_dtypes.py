"""dtypes are values that compare equal to every spelling of the same type."""

from __future__ import annotations

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T

NAMES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_spelling_is_equal(name: str) -> None:
    kind = getattr(T, name)
    numpy_dtype = np.dtype(getattr(ml_dtypes, name, name))
    assert kind == name == kind
    assert kind == numpy_dtype
    assert kind == numpy_dtype.type
    assert T.dtype(name) is T.dtype(numpy_dtype) is kind
    assert kind.as_numpy() == numpy_dtype
    assert kind.bytes == numpy_dtype.itemsize
    assert kind.bits == 8 * kind.bytes
    assert kind.lanes == 1
    assert {kind: 1}[name] == 1
    assert pickle.loads(pickle.dumps(kind)) is copy.copy(kind) is kind


def test_different_types_differ() -> None:
    for a in NAMES:
        for b in NAMES:
            assert (getattr(T, a) == b) == (a == b)
    assert T.float16 != 16
    assert T.float16 is not None


def test_aliases() -> None:
    assert T.float == T.float32 == "float"
    assert T.half == "float16" == T.dtype("half")
    assert T.int == "int32"
    assert T.long == "int64"
    assert T.float8_e4m3 is T.float8_e4m3fn
    assert T.dtype(float) is T.float32
    assert f"{T.float16}" == "float16"


def test_stand_in_torch_dtypes() -> None:
    from tilewright.compat.torch import stand_in as torch

    assert T.float16 == torch.float16 == torch.half
    assert T.dtype(torch.bfloat16) is T.bfloat16
    assert T.float16 != torch.float32


def test_unknown_dtypes_are_explained() -> None:
    with pytest.raises(tilewright.TilewrightError, match="unknown dtype 'floot16'; did you mean"):
        T.Tensor((4,), "floot16")
    with pytest.raises(tilewright.TilewrightError, match="'int2' is not supported yet"):
        T.Tensor((4,), "int2")
    with pytest.raises(tilewright.TilewrightError, match="vector dtype 'float16x2'"):
        T.Tensor((4,), "float16x2")


def test_unknown_names_are_attribute_errors() -> None:
    assert not hasattr(T, "paralell")
    assert not hasattr(T, "call_packed")
    with pytest.raises(tilewright.TilewrightError, match=r"'T.call_packed' is not supported yet"):
        T.call_packed
    with pytest.raises(AttributeError, match=r"no 'T.Paralel'; did you mean 'T.Parallel'"):
        T.Paralel


def test_public_functions_are_documented() -> None:
    for name in T.__all__:
        assert getattr(T, name).__doc__, f"T.{name} has no docstring"
