"""Layouts: where the elements of a tile or tensor sit.

`Layout` maps logical indices to physical ones, `Fragment` to (thread, register slot). Both are
written as functions of the indices with + - * // % ^ and integers; all questions about them are
answered exactly, in C++.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from tilewright._core import core
from tilewright.support.errors import LanguageError, reporting
from tilewright.types.layout.slots import infer_slot
from tilewright.types.tensor_type import check_shape


def _apply(function: Callable[..., Any], count: int, what: str) -> Any:
    """The result of `function` on one index symbol a dimension."""
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = []
    if not any(p.kind is Parameter.VAR_POSITIONAL for p in parameters):
        wanted = [p for p in parameters if p.default is Parameter.empty]
        if parameters and not len(wanted) <= count <= len(parameters):
            raise LanguageError(
                f"{what}: the function must take an index for each of the {count} dimensions, "
                f"it takes {len(wanted)}"
            )
    return function(*(core.IndexExpr.dim(position) for position in range(count)))


def _outputs(result: Any, what: str) -> list[Any]:
    outputs = list(result) if isinstance(result, list | tuple) else [result]
    for output in outputs:
        if type(output) is not core.IndexExpr and (
            isinstance(output, bool) or not isinstance(output, int)
        ):
            raise LanguageError(
                f"{what}: the function must give integer expressions of the indices, got {output!r}"
            )
    if not outputs:
        raise LanguageError(f"{what}: the function gives no index")
    return outputs


def _write_picture(svg: str, path: str | None) -> str:
    if path is not None:
        Path(path).write_text(svg, encoding="utf-8")
    return svg


def _parse(notation: str, shape: Any, kind: type, name: str) -> Any:
    parsed = core.parse_layout(notation, list(check_shape(shape, name)))
    if not isinstance(parsed, kind):
        raise LanguageError(f"{name}: '{notation}' is a {type(parsed).__name__.lower()}")
    return parsed


class Layout:
    """`T.Layout(shape, lambda i, j: [...])`: from logical to physical indices; ranks may differ.

    Example:
        T.annotate_layout({s: T.Layout((64, 64), lambda i, j: [i, j ^ (i % 32)])})
        T.copy(s, B)
    """

    @reporting
    def __init__(self, shape: Any, forward_fn: Callable[..., Any]) -> None:
        extents = check_shape(shape, "T.Layout", allow_zero=True)
        if not callable(forward_fn):
            raise LanguageError(f"T.Layout: expected a function of the indices, got {forward_fn!r}")
        outputs = _outputs(_apply(forward_fn, len(extents), "T.Layout"), "T.Layout")
        self.core = core.Layout(list(extents), outputs)

    @classmethod
    def _wrap(cls, layout: Any) -> Layout:
        made = cls.__new__(cls)
        made.core = layout
        return made

    def get_input_shape(self) -> list[int | None]:
        """The extents of the logical indices; None for a dynamic one."""
        return list(self.core.input_shape)

    def get_output_shape(self) -> list[int | None]:
        """The extents of the physical indices."""
        return list(self.core.output_shape)

    @reporting
    def map_forward_index(self, indices: Sequence[int]) -> list[int]:
        """The physical indices of a logical index."""
        return list(self.core.map([int(i) for i in indices]))

    @reporting
    def inverse(self) -> Layout:
        """The map from physical to logical indices."""
        return Layout._wrap(self.core.inverse())

    @reporting
    def repeat(self, dim: int, factor: int) -> Layout:
        """The layout repeated `factor` times along dimension `dim`."""
        return Layout._wrap(self.core.repeat(dim, factor))

    @classmethod
    @reporting
    def parse(cls, notation: str, shape: Any) -> Layout:
        """The layout that a text such as `(i, j) -> (i, j ^ 8 * (i % 8))` describes."""
        return cls._wrap(_parse(notation, shape, core.Layout, "Layout.parse"))

    @reporting
    def reshape(self, shape: Any) -> Layout:
        """The same placement with another logical shape of as many elements."""
        return Layout._wrap(self.core.reshape(list(check_shape(shape, "Layout.reshape"))))

    def is_equal(self, other: Layout) -> bool:
        """True if both map every index alike."""
        return isinstance(other, Layout) and self.core.is_equal(other.core)

    @reporting
    def plot(self, path: str | None = None, dtype: Any = "float32", title: str = "") -> str:
        """An SVG picture: the offset of each element, coloured by the bank of its address.

        Written to `path`, if given. `dtype` says how wide an element is. A column of one colour is
        a bank conflict. Large tiles show their low corner.
        """
        from tilewright.types.dtypes import canonical

        return _write_picture(self.core.svg(canonical(dtype).bits, title), path)

    def _repr_svg_(self) -> str:
        return self.plot()

    def _repr_html_(self) -> str:
        from tilewright.support.html import line

        return line(repr(self)) + self.plot()

    def __repr__(self) -> str:
        return f"Layout({self.core})"


class Fragment:
    """`T.Fragment(shape, lambda i, j: (thread, slot))`: who holds each element of a tile.

    `replicate` copies of each element exist; the function then takes the copy's number as a last
    argument `rep`. `forward_thread_fn` and `forward_index_fn` give the two parts apart; slots are
    inferred where only the threads are given.

    Example:
        T.annotate_layout({f: T.Fragment((64, 64), lambda i, j: (2 * i + j // 32, j % 32))})
        T.copy(f, B)
    """

    @reporting
    def __init__(
        self,
        shape: Any,
        forward_fn: Callable[..., Any] | None = None,
        forward_thread_fn: Callable[..., Any] | None = None,
        replicate: int = 1,
        forward_index_fn: Callable[..., Any] | None = None,
    ) -> None:
        extents = check_shape(shape, "T.Fragment")
        count = len(extents)
        replicas = count + 1 if replicate > 1 else count
        if forward_fn is not None:
            result = _apply(forward_fn, replicas, "T.Fragment")
            if not isinstance(result, list | tuple) or len(result) != 2:
                raise LanguageError("T.Fragment: the function must give (thread, slot)")
            thread, slot = result
            slot = slot[0] if isinstance(slot, list | tuple) and len(slot) == 1 else slot
        elif forward_thread_fn is not None:
            thread = _apply(forward_thread_fn, replicas, "T.Fragment")
            if forward_index_fn is None:
                forward_index_fn = infer_slot(extents, forward_thread_fn, int(replicate))
            slot = _apply(forward_index_fn, count, "T.Fragment")
        else:
            raise LanguageError("T.Fragment needs forward_fn or forward_thread_fn")
        _outputs([thread, slot], "T.Fragment")
        self.core = core.Fragment(list(extents), thread, slot, int(replicate))

    @classmethod
    @reporting
    def parse(cls, notation: str, shape: Any) -> Fragment:
        """The fragment that a text such as `(i, j) -> thread i, slot j` describes."""
        made = cls.__new__(cls)
        made.core = _parse(notation, shape, core.Fragment, "Fragment.parse")
        return made

    @property
    def replicate(self) -> int:
        """How many copies of each element exist."""
        return self.core.replicate

    @property
    def threads(self) -> int:
        """The number of threads that hold elements."""
        return self.core.threads

    @property
    def slots(self) -> int:
        """The number of elements a thread holds."""
        return self.core.slots

    @reporting
    def repeat(
        self, repeats: Sequence[int], repeat_on_thread: bool = False, lower_dim_first: bool = True
    ) -> Fragment:
        """The fragment tiled `repeats` times along each dimension, over slots or over threads."""
        made = Fragment.__new__(Fragment)
        made.core = self.core.repeat(list(repeats), repeat_on_thread, lower_dim_first)
        return made

    def is_equal(self, other: Fragment) -> bool:
        """True if both place every element alike."""
        return isinstance(other, Fragment) and self.core.is_equal(other.core)

    @reporting
    def plot(self, path: str | None = None, title: str = "") -> str:
        """An SVG picture: the thread and slot of each element, coloured by lane.

        Written to `path`, if given. Large tiles show their low corner; a tooltip has all owners.
        """
        return _write_picture(self.core.svg(title), path)

    def _repr_svg_(self) -> str:
        return self.plot()

    def _repr_html_(self) -> str:
        from tilewright.support.html import line

        return line(repr(self)) + self.plot()

    def __repr__(self) -> str:
        return f"Fragment({self.core})"


def _tile_shape(buffer: Any, what: str) -> tuple[list[int], int]:
    if type(buffer) is not core.Buffer:
        raise LanguageError(f"{what}: expected a shared tile, got {type(buffer).__name__}")
    from tilewright.types.dtypes import canonical

    return list(buffer.shape), canonical(buffer.dtype_name).bits


@reporting
def make_swizzled_layout(buffer: Any, k_major: bool = True, allow_pad: bool = True) -> Layout:
    """A layout of a shared tile in which rows and columns fall into different banks."""
    shape, bits = _tile_shape(buffer, "make_swizzled_layout")
    return Layout._wrap(core.make_swizzled_layout(shape, bits, k_major, allow_pad))


@reporting
def make_linear_layout(buffer: Any) -> Layout:
    """The row-major layout of a tile."""
    shape, _ = _tile_shape(buffer, "make_linear_layout")
    return Layout._wrap(core.make_linear_layout(shape))


def _bank_swizzled(tile: tuple[Any, ...], name: str, panel_bytes: int) -> Layout:
    """`tile` is a shared tile, or rows, columns and the bits of an element."""
    if len(tile) == 3:
        shape, bits = [int(tile[0]), int(tile[1])], int(tile[2])
    elif len(tile) == 1:
        shape, bits = _tile_shape(tile[0], name)
    else:
        raise LanguageError(f"{name} takes a shared tile, or rows, columns and bits of an element")
    return Layout._wrap(core.make_bank_swizzled_layout(shape, bits, panel_bytes))


@reporting
def make_full_bank_swizzled_layout(*tile: Any) -> Layout:
    """A swizzle of a shared tile in panels of 128 bytes, as TMA's 128-byte mode."""
    return _bank_swizzled(tile, "make_full_bank_swizzled_layout", 128)


@reporting
def make_half_bank_swizzled_layout(*tile: Any) -> Layout:
    """A swizzle of a shared tile in panels of 64 bytes, as TMA's 64-byte mode."""
    return _bank_swizzled(tile, "make_half_bank_swizzled_layout", 64)


@reporting
def make_quarter_bank_swizzled_layout(*tile: Any) -> Layout:
    """A swizzle of a shared tile in panels of 32 bytes, as TMA's 32-byte mode."""
    return _bank_swizzled(tile, "make_quarter_bank_swizzled_layout", 32)


__all__ = [
    "Fragment",
    "Layout",
    "make_full_bank_swizzled_layout",
    "make_half_bank_swizzled_layout",
    "make_linear_layout",
    "make_quarter_bank_swizzled_layout",
    "make_swizzled_layout",
]
