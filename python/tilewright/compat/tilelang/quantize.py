"""`tilelang.quantize`: numbers of a few bits, packed into integers.

TileLang had this module up to 0.1.8; programs that were written for it import it still. Each
converter reads the `pos`-th number of `nbit` bits of `val`, counted from the lowest bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tilewright.language as T
from tilewright.compat import refuse_rest
from tilewright.support.errors import LanguageError

_Converter = Callable[..., Any]


def _storage(storage_type: str, storage_nbit: int, val: Any) -> str:
    """The dtype that the packed numbers are stored in, which `val` must have."""
    expected, got = f"{storage_type}{storage_nbit}", str(val.dtype)
    if got != expected:
        raise LanguageError(f"packed numbers: expected a value of dtype {expected}, got {got}")
    return expected


def _field(storage: str, nbit: int, val: Any, pos: Any) -> Any:
    """The bits of one number, in the dtype of the storage."""
    return (val >> T.cast(pos * nbit, storage)) & ((1 << nbit) - 1)


def _tir_packed_to_unsigned_convert(
    storage_type: str = "uint", storage_nbit: int = 8
) -> _Converter:
    """Unsigned numbers."""

    def convert(nbit: int, val: Any, pos: Any, dtype: Any) -> Any:
        storage = _storage(storage_type, storage_nbit, val)
        return T.cast(_field(storage, nbit, val, pos), dtype)

    return convert


def _tir_packed_to_unsigned_convert_with_zeros(
    storage_type: str = "uint", storage_nbit: int = 8
) -> _Converter:
    """Unsigned numbers, less a zero point."""

    def convert(nbit: int, val: Any, pos: Any, zero: Any, dtype: Any) -> Any:
        storage = _storage(storage_type, storage_nbit, val)
        return T.cast(_field(storage, nbit, val, pos) - zero, dtype)

    return convert


def _tir_packed_to_signed_convert(storage_type: str = "uint", storage_nbit: int = 8) -> _Converter:
    """Numbers around zero: half of their range is subtracted, in `dtype`."""

    def convert(nbit: int, val: Any, pos: Any, dtype: Any) -> Any:
        storage = _storage(storage_type, storage_nbit, val)
        return T.cast(_field(storage, nbit, val, pos), dtype) - T.cast(1 << (nbit - 1), dtype)

    return convert


def _tir_packed_int_to_int_convert(storage_type: str = "uint", storage_nbit: int = 8) -> _Converter:
    """Signed numbers in two's complement."""

    def convert(nbit: int, val: Any, pos: Any, dtype: Any) -> Any:
        storage = _storage(storage_type, storage_nbit, val)
        field = T.cast(_field(storage, nbit, val, pos), "int32")
        return T.cast((field << (32 - nbit)) >> (32 - nbit), dtype)

    return convert


def _tir_packed_to_fp4_to_f16(storage_type: str = "uint", storage_nbit: int = 8) -> _Converter:
    """Floats of a sign and three bits of exponent, a power of two each, as float16."""

    def convert(nbit: int, val: Any, pos: Any, dtype: Any) -> Any:
        if nbit != 4 or str(T.dtype(dtype)) != "float16":
            raise LanguageError(f"numbers of {nbit} bits to {dtype}: expected 4 bits and float16")
        storage = _storage(storage_type, storage_nbit, val)
        bits = T.cast(_field(storage, nbit, val, pos), "uint16")
        exponent = bits & 7
        pattern = ((exponent | 8) | ((bits >> 3) << 5)) << 10
        number = T.reinterpret("float16", T.cast(pattern, "uint16"))
        return T.if_then_else(exponent == 0, T.float16(0), number)

    return convert


def _tir_u8_to_f8_e4m3_to_f16(nbit: int, val: Any, dtype: Any) -> Any:
    """A pattern of float8_e4m3fn in 8 or 16 bits, which is no NaN, as float16. Subnormal numbers
    become normal ones, as TileLang has it."""
    if nbit != 8 or str(T.dtype(dtype)) != "float16":
        raise LanguageError(f"numbers of {nbit} bits to {dtype}: expected 8 bits and float16")
    bits = T.cast(val, "uint16")
    top = bits & 0x40
    pattern = ((bits & 63) << 7) | (top << 8) | (top << 7)
    return T.reinterpret("float16", T.cast(((bits >> 7) << 15) | (pattern ^ 0x2000), "uint16"))


def _tir_u8_to_f4_to_bf16(nbit: int, val: Any, pos: Any, scale: Any, dtype: Any) -> Any:
    """A pattern of float4_e2m1fn whose exponent is raised by `scale`, as bfloat16. Subnormal
    numbers become normal ones, as TileLang has it."""
    if nbit != 4 or str(T.dtype(dtype)) != "bfloat16":
        raise LanguageError(f"numbers of {nbit} bits to {dtype}: expected 4 bits and bfloat16")
    bits = T.cast(_field(_storage("uint", 8, val), nbit, val, pos), "uint16")
    exponent = T.cast(T.min(((bits & 6) >> 1) + 126 + scale, 255), "uint16")
    pattern = ((((bits >> 3) << 8) | exponent) << 7) | ((bits & 1) << 6)
    return T.reinterpret("bfloat16", T.cast(pattern, "uint16"))


def general_compress(
    lowprecision_weight: Any, source_bits: int = 4, storage_dtype: Any = None
) -> Any:
    """A torch tensor of small integers with `8 // source_bits` neighbours of a row in each byte,
    the first one in the lowest bits."""
    import torch

    count = 8 // source_bits
    numbers = lowprecision_weight.to(torch.int32)
    numbers = numbers.reshape(*numbers.shape[:-1], numbers.shape[-1] // count, count)
    packed = torch.zeros_like(numbers[..., 0])
    for n in range(count):
        packed |= numbers[..., n] << (source_bits * n)
    return packed.to(torch.uint8).view(torch.int8).to(storage_dtype or torch.int8)


refuse_rest(__name__)
