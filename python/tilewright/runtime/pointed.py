"""Memory that a kernel reaches by addresses (`T.ptr`): a call gathers and scatters it.

A hidden parameter of the kernel has a row for each address of a table. The rows are copied from
where the addresses say before the launch, and back after it if the kernel writes them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

from tilewright.runtime.arguments import bind_symbols, convert_argument, evaluate_extent, is_torch
from tilewright.support.errors import LanguageError
from tilewright.types.dtypes import canonical


class Gathered:
    """The hidden arguments of one call."""

    def __init__(self, parameters: Sequence[Any], values: list[Any]) -> None:
        self._rows: list[tuple[Any, list[int], bool]] = []
        self._others: list[tuple[int, int, bool]] = []  # tensors that are passed as such
        by_name = {parameter["name"]: n for n, parameter in enumerate(parameters)}
        plain = [None if "pointed" in p else p for p in parameters]
        converted = [
            None if p is None or p["kind"] != "tensor" else convert_argument(v, p)
            for p, v in zip(plain, values, strict=True)
        ]
        symbols = bind_symbols(list(parameters), converted)
        for parameter, view in zip(parameters, converted, strict=True):
            if isinstance(view, tuple) and view[0]:
                size = prod(view[1], start=1) * canonical(view[3]).bytes
                self._others.append((view[0], view[0] + size, bool(parameter.get("is_written"))))
        for position, parameter in enumerate(parameters):
            if "pointed" not in parameter:
                continue
            source = parameter["pointed"]
            for symbol, name in source.scalars.items():
                symbols[symbol] = int(values[by_name[name]])
            addresses = _addresses(values[by_name[source.table]], source)
            values[position] = self._gather(parameter, addresses, symbols)
        self._check_apart()
        for position, parameter in enumerate(parameters):
            if parameter.get("is_address"):
                values[position] = 0  # the kernel has the memory itself

    def _gather(self, parameter: Any, addresses: list[int], symbols: dict[str, int]) -> Any:
        import numpy

        shape = [evaluate_extent(extent, symbols, parameter) for extent in parameter["shape"]]
        rows = numpy.empty(shape, canonical(parameter["dtype"]).as_numpy())
        size = rows.nbytes // max(len(addresses), 1)
        if 0 in addresses and size:
            raise LanguageError(f"parameter '{parameter['pointed'].table}' has a null address")
        for number, address in enumerate(addresses):
            ctypes.memmove(rows.ctypes.data + number * size, address, size)
        self._rows.append((rows, addresses, bool(parameter.get("is_written"))))
        return rows

    def _check_apart(self) -> None:
        """Rows are copies: memory that is written must not be seen through another one."""
        spans = [(*other, False) for other in self._others]
        for rows, addresses, is_written in self._rows:
            size = rows.nbytes // max(len(addresses), 1)
            spans += [(address, address + size, is_written, True) for address in addresses]
        spans.sort()
        for first, second in pairwise(spans):
            is_row, is_written = first[3] or second[3], first[2] or second[2]
            if second[0] < first[1] and is_row and is_written:
                raise LanguageError(
                    "two addresses lead to the same memory, and the kernel writes it",
                    hint="pass tensors that do not overlap",
                )

    def scatter(self) -> None:
        """Writes back what the kernel has written."""
        for rows, addresses, is_written in self._rows:
            size = rows.nbytes // max(len(addresses), 1)
            for number, address in enumerate(addresses if is_written else []):
                ctypes.memmove(address, rows.ctypes.data + number * size, size)


def _addresses(value: Any, source: Any) -> list[int]:
    """The addresses of a table, or the one of a tensor or number."""
    name, is_table = source.table, source.is_table
    if isinstance(value, int) and not is_table:
        return [value]
    if not hasattr(value, "shape"):
        raise LanguageError(f"parameter '{name}': expected an address or addresses, got {value!r}")
    if is_torch(value):
        if not getattr(value, "is_cpu", False) and value.device.type != "cpu":
            raise LanguageError(f"parameter '{name}': addresses on a GPU are not followed")
        return value.reshape(-1).tolist() if is_table else [value.data_ptr()]
    return value.reshape(-1).tolist() if is_table else [value.ctypes.data]
