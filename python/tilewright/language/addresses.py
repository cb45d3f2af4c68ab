"""Tensors by their address: `T.ptr` and `T.make_tensor`.

    def main(table: T.Tensor((G,), T.ptr), out: T.Tensor((G, N), "float32")):
        with T.Kernel(G) as bx:
            src = T.make_tensor(table[bx], (N,), "float32")

No engine follows an address. A kernel has a hidden parameter instead, with a row for each entry of
the table; a call gathers the rows before the launch, and writes them back after it if the kernel
writes them (runtime/pointed.py). So every access is checked, on every engine.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tilewright.frontend import trace
from tilewright.frontend.functions import add_declarer
from tilewright.frontend.trace import Buffer, Element, describe, is_kernel_value
from tilewright.language import scalars
from tilewright.support.errors import LanguageError
from tilewright.types.dtypes import canonical
from tilewright.types.tensor_type import TensorType, check_shape


class PointerType:
    """`T.ptr`: the type of a parameter, or of the entries of a tensor, that is an address."""

    def __call__(self, *arguments: Any, **options: Any) -> PointerType:
        return self

    def __repr__(self) -> str:
        return "T.ptr"


ptr = PointerType()


class Address(NamedTuple):
    """A parameter that is an address."""

    name: str


class Pointed(NamedTuple):
    """What a hidden parameter is filled from."""

    table: str  # the parameter with the address, or the addresses
    is_table: bool
    scalars: dict[str, str]  # its symbols that are numbers of a call, with their parameters


def declare(state: trace.TraceState, name: str) -> Address:
    """A parameter that is an address."""
    state.core.param_scalar(name, "int64")
    state.addresses.add(name)
    state.parameter_notes[name] = {"is_address": True}
    return Address(name)


def declare_table(state: trace.TraceState, name: str, shape: Any) -> Buffer:
    """A parameter that is a tensor of addresses."""
    state.addresses.add(name)
    return state.core.param_tensor(name, list(shape), "int64")


def _declare_parameter(state: trace.TraceState, name: str, annotation: Any) -> Any:
    if isinstance(annotation, TensorType) and annotation.has_addresses:
        return declare_table(state, name, annotation.shape)
    return declare(state, name) if isinstance(annotation, PointerType) else None


add_declarer(_declare_parameter)


def _known_extent(state: trace.TraceState, extent: Any, used: dict[str, str]) -> Any:
    """An extent; a number of the call becomes a symbol."""
    if not is_kernel_value(extent) or type(extent) is trace.IndexExpr:
        return extent
    name = state.scalar_parameters.get(id(extent), (None, ""))[1]
    if not name:
        raise LanguageError(
            "'T.make_tensor': an extent is an integer, a T.dynamic symbol or a parameter, got "
            + describe(extent)
        )
    symbol = f"{name}_extent"
    used[symbol] = name
    if symbol not in state.extent_symbols:
        state.extent_symbols[symbol] = scalars.dynamic(symbol)
    return state.extent_symbols[symbol]


def make_tensor(pointer: Any, shape: Any, dtype: Any = "float32", strides: Any = None) -> Buffer:
    """The tensor of this shape, row by row, at an address: a `T.ptr` parameter, or an entry of a
    `T.Tensor(shape, T.ptr)`."""
    what = "T.make_tensor"
    state = trace.require(what)
    if strides is not None:
        raise LanguageError(f"'{what}' with strides is not supported: rows lie one after another")
    used: dict[str, str] = {}
    extents = check_shape(shape if isinstance(shape, list | tuple) else (shape,), what)
    extents = tuple(_known_extent(state, extent, used) for extent in extents)
    kind = str(canonical(dtype))
    if isinstance(pointer, Address):
        return _hidden(state, pointer.name, (), extents, kind, used)
    if type(pointer) is not Element or pointer.buffer.name not in state.addresses:
        raise LanguageError(
            f"'{what}' takes a T.ptr parameter or an entry of a T.Tensor(shape, T.ptr), got "
            + describe(pointer),
            hint="name the entry where it is used: T.make_tensor(table[i], shape, dtype)",
        )
    rows = _hidden(state, pointer.buffer.name, pointer.buffer.shape, extents, kind, used)
    return rows[(*pointer.indices, *(slice(None) for _ in extents))]


def make_tensor_from_addr(
    addr: Any,
    shape: Any,
    dtype: Any = "float32",
    strides: Any = None,
    storage_scope: str = "global",
) -> Buffer:
    """As `T.make_tensor`."""
    if storage_scope != "global":
        raise LanguageError(f"'T.make_tensor_from_addr': '{storage_scope}' memory has no addresses")
    return make_tensor(addr, shape, dtype, strides)


def _hidden(
    state: trace.TraceState,
    table: str,
    outer: tuple[Any, ...],
    extents: tuple[Any, ...],
    dtype: str,
    used: dict[str, str],
) -> Buffer:
    """The parameter with the memory that a table points to, once for each shape and type."""
    key = (table, tuple(map(str, extents)), dtype)
    if key not in state.memory:
        name = f"{table}_memory" + str(len(state.memory) or "")
        state.parameter_notes[name] = {"pointed": Pointed(table, bool(outer), used)}
        state.memory[key] = state.core.param_tensor(name, [*outer, *extents], dtype)
    return state.memory[key]
