"""Statements on whole tiles."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from tilewright.frontend import trace
from tilewright.frontend.trace import (
    Buffer,
    Element,
    Var,
    describe,
    is_kernel_value,
    is_scalar,
)
from tilewright.language import narrow
from tilewright.language.kernel import _in_kernel
from tilewright.support.errors import LanguageError
from tilewright.types.dtypes import canonical
from tilewright.types.tensor_type import check_shape


class GemmWarpPolicy(IntEnum):
    """How `T.gemm` deals the tiles of C to warps; it changes layouts, never values.

    Example:
        a = T.alloc_shared((64, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.copy(H, a)
        T.gemm(a, a, c, clear_accum=True, policy=T.GemmWarpPolicy.FullRow)
        T.copy(c, B)
    """

    Square = 0
    FullRow = 1
    FullCol = 2


_POLICIES = {0: "square", 1: "full_row", 2: "full_col"}


def require_tile(value: Any, what: str, role: str, *, element: bool = False) -> Any:
    """`value` if it is a tile, a region, or (where allowed) the address of an element."""
    if type(value) is Buffer or (element and type(value) is Element):
        return value
    if type(value) is Element:
        raise LanguageError(f"'{what}': {role} must be a tile or region, got one element")
    raise LanguageError(f"'{what}': {role} must be a tile or region, got {describe(value)}")


def dimension(what: str, tile: Any, dim: Any) -> int:
    """A dimension of a tile, counted from the front; negative ones count from the end."""
    if isinstance(dim, bool) or not isinstance(dim, int):
        raise LanguageError(f"'{what}': dim must be a Python integer, got {dim!r}")
    if not -tile.ndim <= dim < tile.ndim:
        raise LanguageError(
            f"'{what}': dim {dim} is out of range for '{tile.name}', which has "
            f"{tile.ndim} dimensions"
        )
    return dim % tile.ndim


def copy(
    src: Any,
    dst: Any,
    *,
    coalesced_width: int | None = None,
    disable_tma: bool = False,
    eviction_policy: str | None = None,
    prefer_instruction: str | None = None,
    annotations: dict[str, Any] | None = None,
    loop_layout: Any = None,
) -> None:
    """Copies a tile, converting elements where the types differ.

    Each side is a tile, a region (`A[0:64, k:k + 32]`) or an address (`A[i, j]`), which takes the
    extents of the other side. A variable is one element. Reads beyond the edge of a global tensor
    give 0 (or what `T.annotate_safe_value` says), writes there are dropped. The keywords are
    performance hints.

    Example:
        T.copy(A[0:32, :], B[0:32, :])
        T.copy(s, C)
    """
    state = _in_kernel("T.copy")
    if narrow.is_narrow(src) or narrow.is_narrow(dst):
        narrow.copy(state, src, dst)
        return
    if type(src) is Var or type(dst) is Var:
        _element("T.copy", "the destination", dst).store(
            _element("T.copy", "the source", src).load()
        )
        return
    require_tile(src, "T.copy", "the source", element=True)
    require_tile(dst, "T.copy", "the destination", element=True)
    hints = {
        "coalesced_width": coalesced_width,
        "disable_tma": disable_tma or None,
        "eviction_policy": eviction_policy,
        "prefer_instruction": prefer_instruction,
        "loop_layout": getattr(loop_layout, "core", loop_layout),
    }
    for name, value in (annotations or {}).items():
        if name in ("cluster_mask", "dst_block", "barrier"):
            raise LanguageError(f"'T.copy' with the annotation '{name}'", hint="use T.copy_cluster")
        if name in ("coalesced_width", "disable_tma"):
            hints[name] = value or None
    state.core.copy(src, dst, {key: value for key, value in hints.items() if value is not None})


def _element(what: str, role: str, place: Any) -> Any:
    """The one element of a variable, an address or a tile."""
    if type(place) in (Var, Element):
        return place
    require_tile(place, what, role)
    if any(extent != 1 for extent in place.shape):
        raise LanguageError(
            f"'{what}': a variable is one element, {role} is {describe(place)}",
            hint="name an element, as in A[i, j]",
        )
    return place[(0,) * len(place.shape)]


def fill(buffer: Any, value: Any, annotations: dict[str, Any] | None = None) -> None:
    """Sets every element of a tile or region, or a variable, to `value`.

    Example:
        T.fill(f, 1.0)
        T.copy(f, B)
    """
    state = _in_kernel("T.fill")
    if not is_scalar(value):
        raise LanguageError(f"'T.fill': the value must be a scalar, got {describe(value)}")
    _fill(state, "T.fill", buffer, value)


def _fill(state: trace.TraceState, what: str, target: Any, value: Any) -> None:
    if type(target) is narrow.NarrowTile:
        state.core.fill(target.tile, target.kind.rounded(value))
    elif type(target) is Var:
        target.store(value)
    else:
        state.core.fill(require_tile(target, what, "the destination", element=True), value)


def clear(buffer: Any) -> None:
    """Sets every element of a tile or region, or a variable, to zero.

    Example:
        T.clear(f)
        T.copy(f, B)
    """
    _fill(_in_kernel("T.clear"), "T.clear", buffer, 0)


def gemm(
    A: Any,
    B: Any,
    C: Any,
    transpose_A: bool = False,
    transpose_B: bool = False,
    policy: GemmWarpPolicy = GemmWarpPolicy.Square,
    clear_accum: Any = False,
    k_pack: int = 1,
    mbar: Any = None,
    annotations: dict[str, Any] | None = None,
    wg_wait: int = 0,
) -> None:
    """C += op(A) @ op(B), accumulated in C's type.

    A is (M, K), or (K, M) with `transpose_A`; B is (K, N), or (N, K) with `transpose_B`; C is
    (M, N). `clear_accum` (True, or a run-time condition such as `k == 0`) starts from zero.
    `policy` deals the work to warps and changes no value, nor does `wg_wait`, which earlier
    versions of TileLang took: the compiler finds where a product must have ended.

    Example:
        a = T.alloc_shared((64, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.copy(H, a)
        T.gemm(a, a, c, clear_accum=True)
        T.copy(c, B)
    """
    state = _in_kernel("T.gemm")
    if mbar is not None:
        raise LanguageError(
            "'T.gemm' is over before the next statement, it tells no barrier",
            hint="leave 'mbar' out, or use T.tcgen05_gemm",
        )
    A, B = narrow.carrier(A, "T.gemm"), narrow.carrier(B, "T.gemm")
    for tile, role in ((A, "A"), (B, "B"), (C, "C")):
        require_tile(tile, "T.gemm", role)
    if is_kernel_value(transpose_A) or is_kernel_value(transpose_B):
        raise LanguageError("'T.gemm': transpose_A and transpose_B must be known while tracing")
    try:
        policy_name = _POLICIES[int(policy)]
    except (KeyError, ValueError, TypeError):
        raise LanguageError(f"'T.gemm': unknown policy {policy!r}") from None
    if not is_kernel_value(clear_accum):
        clear_accum = bool(clear_accum)
    state.core.gemm(
        A, B, C, bool(transpose_A), bool(transpose_B), policy_name, clear_accum, int(k_pack)
    )


# ---- Reductions ----


def _reduce(
    what: str, kind: str, buffer: Any, out: Any, dim: int, clear: bool, nan_propagate: bool = False
) -> None:
    state = _in_kernel(what)
    buffer = narrow.carrier(buffer, what)
    require_tile(buffer, what, "the source")
    if type(out) is Var:  # by way of a tile of one element
        cell = state.core.alloc("result", [1] * max(1, buffer.ndim - 1), out.dtype_name, "fragment")
        element = cell[(0,) * cell.ndim]
        if not clear:
            element.store(out.load())
        _reduce(what, kind, buffer, cell, dim, clear, nan_propagate)
        out.store(element.load())
        return
    require_tile(out, what, "the result")
    dim = dimension(what, buffer, dim)
    if is_kernel_value(clear):
        raise LanguageError(f"'{what}': clear must be known while tracing")
    state.core.reduce(kind, buffer, out, dim, bool(clear), bool(nan_propagate))


def reduce_sum(
    buffer: Any,
    out: Any,
    dim: int = -1,
    clear: bool = True,
    batch: int = 1,
    annotations: Any = None,
) -> None:
    """Sums along `dim` into `out`, whose shape drops that dimension (or has 1 there).

    `clear=False` adds to what `out` holds.

    Example:
        r = T.alloc_fragment((64,), "float32")
        T.reduce_sum(f, r, dim=1)  # of each row
        T.copy(r, B[0, :])
    """
    _reduce("T.reduce_sum", "sum", buffer, out, dim, clear)


def reduce_max(
    buffer: Any, out: Any, dim: int = -1, clear: bool = True, batch: int = 1,
    nan_propagate: bool = False, annotations: Any = None,
) -> None:  # fmt: skip
    """Maximum along `dim`; a NaN loses unless `nan_propagate`. `clear=False` keeps `out` in.

    Example:
        r = T.alloc_fragment((64,), "float32")
        T.reduce_max(f, r, dim=1)  # of each row
        T.copy(r, B[0, :])
    """
    _reduce("T.reduce_max", "max", buffer, out, dim, clear, nan_propagate)


def reduce_min(
    buffer: Any, out: Any, dim: int = -1, clear: bool = True, batch: int = 1,
    nan_propagate: bool = False, annotations: Any = None,
) -> None:  # fmt: skip
    """Minimum along `dim`; a NaN loses unless `nan_propagate`. `clear=False` keeps `out` in.

    Example:
        r = T.alloc_fragment((64,), "float32")
        T.reduce_min(f, r, dim=1)  # of each row
        T.copy(r, B[0, :])
    """
    _reduce("T.reduce_min", "min", buffer, out, dim, clear, nan_propagate)


def reduce_absmax(
    buffer: Any, out: Any, dim: int = -1, clear: bool = True, batch: int = 1,
    nan_propagate: bool = False, annotations: Any = None,
) -> None:  # fmt: skip
    """Maximum of absolute values along `dim`.

    Example:
        r = T.alloc_fragment((64,), "float32")
        T.reduce_absmax(f, r, dim=1)  # of each row
        T.copy(r, B[0, :])
    """
    _reduce("T.reduce_absmax", "absmax", buffer, out, dim, clear, nan_propagate)


def reduce_abssum(
    buffer: Any,
    out: Any,
    dim: int = -1,
    clear: bool = True,
    batch: int = 1,
    annotations: Any = None,
) -> None:
    """Sum of absolute values along `dim`.

    Example:
        r = T.alloc_fragment((64,), "float32")
        T.reduce_abssum(f, r, dim=1)  # of each row
        T.copy(r, B[0, :])
    """
    _reduce("T.reduce_abssum", "abssum", buffer, out, dim, clear)


def reduce_bitand(
    buffer: Any,
    out: Any,
    dim: int = -1,
    clear: bool = True,
    batch: int = 1,
    annotations: Any = None,
) -> None:
    """Bitwise and along `dim` (integers).

    Example:
        x = T.alloc_fragment((64, 64), "int32")
        r = T.alloc_fragment((64,), "int32")
        T.copy(N, x)
        T.reduce_bitand(x, r, dim=1)
        T.copy(r, M[0, :])
    """
    _reduce("T.reduce_bitand", "and", buffer, out, dim, clear)


def reduce_bitor(
    buffer: Any,
    out: Any,
    dim: int = -1,
    clear: bool = True,
    batch: int = 1,
    annotations: Any = None,
) -> None:
    """Bitwise or along `dim` (integers).

    Example:
        x = T.alloc_fragment((64, 64), "int32")
        r = T.alloc_fragment((64,), "int32")
        T.copy(N, x)
        T.reduce_bitor(x, r, dim=1)
        T.copy(r, M[0, :])
    """
    _reduce("T.reduce_bitor", "or", buffer, out, dim, clear)


def reduce_bitxor(
    buffer: Any,
    out: Any,
    dim: int = -1,
    clear: bool = True,
    batch: int = 1,
    annotations: Any = None,
) -> None:
    """Bitwise exclusive or along `dim` (integers).

    Example:
        x = T.alloc_fragment((64, 64), "int32")
        r = T.alloc_fragment((64,), "int32")
        T.copy(N, x)
        T.reduce_bitxor(x, r, dim=1)
        T.copy(r, M[0, :])
    """
    _reduce("T.reduce_bitxor", "xor", buffer, out, dim, clear)


def cumsum(
    src: Any,
    dst: Any = None,
    dim: int = 0,
    reverse: bool = False,
    annotations: dict[str, Any] | None = None,
) -> None:
    """Running sums along `dim`, into `dst` or in place; `reverse` runs from the end.

    Example:
        T.cumsum(s, dim=1)
        T.copy(s, B)
    """
    state = _in_kernel("T.cumsum")
    require_tile(src, "T.cumsum", "the source")
    require_tile(src if dst is None else dst, "T.cumsum", "the destination")
    dim = dimension("T.cumsum", src, dim)
    state.core.cumsum(src, src if dst is None else dst, dim, bool(reverse))


def reducer_init(reducer: Any, value: Any = None) -> None:
    """Starts a reducer with `value`, which counts once, or with nothing: zero for sums, the lowest
    or highest value for max and min.

    Example:
        r = T.alloc_reducer((64,), "float32", op="sum")
        T.reducer_init(r)
        for i, j in T.Parallel(64, 64):
            T.reducer_update(r[i], A[i, j])
        T.finalize_reducer(r)
        for i in T.Parallel(64):
            B[0, i] = r[i]
    """
    state = _in_kernel("T.reducer_init")
    require_tile(reducer, "T.reducer_init", "the reducer")
    if value is None:
        state.core.reducer_init(reducer)
    else:
        _fill(state, "T.reducer_init", reducer, value)


def reducer_update(element: Any, value: Any) -> None:
    """`T.reducer_update(r[i], x)` contributes `x`; each contribution counts once.

    Example:
        r = T.alloc_reducer((64,), "float32", op="sum")
        T.reducer_init(r)
        for i, j in T.Parallel(64, 64):
            T.reducer_update(r[i], A[i, j])
        T.finalize_reducer(r)
        for i in T.Parallel(64):
            B[0, i] = r[i]
    """
    state = _in_kernel("T.reducer_update")
    if type(element) is not Element:
        raise LanguageError(f"'T.reducer_update' needs an element r[i], got {describe(element)}")
    state.core.reducer_update(element, value)


def finalize_reducer(reducer: Any, dst: Any = None, batch: int | None = None) -> None:
    """Ends the reduction; the result is in `dst`, or in the reducer itself. `batch` (how many
    results threads exchange at once) is a performance hint.

    Example:
        r = T.alloc_reducer((64,), "float32", op="sum")
        T.reducer_init(r)
        for i, j in T.Parallel(64, 64):
            T.reducer_update(r[i], A[i, j])
        T.finalize_reducer(r)
        for i in T.Parallel(64):
            B[0, i] = r[i]
    """
    state = _in_kernel("T.finalize_reducer")
    require_tile(reducer, "T.finalize_reducer", "the reducer")
    state.core.finalize_reducer(reducer, reducer if dst is None else dst)


# ---- Views and gathers ----


def view(buffer: Any, shape: Any = None, dtype: Any = None) -> Buffer:
    """The same storage with another shape or element type (of equal size in bytes).

    Example:
        x = T.view(s, (64, 64), "int32")  # the bits of the floats
        T.copy(x, M)
    """
    state = trace.require("T.view")
    if hasattr(buffer, "view_as"):  # packed values
        return buffer.view_as(shape, dtype)
    require_tile(buffer, "T.view", "the buffer")
    shape = buffer.shape if shape is None else check_shape(shape, "T.view")
    name = buffer.dtype_name if dtype is None else str(canonical(dtype))
    return state.core.view(buffer, list(shape), name)


def reshape(buffer: Any, shape: Any) -> Buffer:
    """The same storage with another shape of as many elements.

    Example:
        x = T.reshape(s, (4096,))
        for i in T.Parallel(64):
            B[0, i] = x[i * 64]
    """
    require_tile(getattr(buffer, "tile", buffer), "T.reshape", "the buffer")
    return view(buffer, shape)


def im2col(
    img: Any,
    col: Any,
    nhw_step: Any,
    c_step: Any,
    kernel: int,
    stride: int,
    dilation: int,
    pad: int,
    eviction_policy: str | None = None,
    annotations: dict[str, Any] | None = None,
) -> None:
    """Gathers a tile of the patch matrix of an NHWC image.

    Row r of `col` is output position `nhw_step * rows + r` of n*h*w, column c is element
    `c_step * columns + c` of (kernel row, kernel column, channel); padding reads as zero.

    Example:
        @T.prim_func
        def main(image: T.Tensor((1, 8, 8, 16), "float16"), rows: T.Tensor((64, 16), "float16")):
            with T.Kernel(1, threads=128):
                tile = T.alloc_shared((64, 16), "float16")
                T.im2col(image, tile, 0, 0, 3, 1, 1, 1)
                T.copy(tile, rows)
    """
    state = _in_kernel("T.im2col")
    require_tile(img, "T.im2col", "the image")
    require_tile(col, "T.im2col", "the destination")
    state.core.im2col(img, col, nhw_step, c_step, kernel, stride, dilation, pad)


def c2d_im2col(*arguments: Any, **options: Any) -> None:
    """The old name of `T.im2col`.

    Example:
        @T.prim_func
        def main(image: T.Tensor((1, 8, 8, 16), "float16"), rows: T.Tensor((64, 16), "float16")):
            with T.Kernel(1, threads=128):
                tile = T.alloc_shared((64, 16), "float16")
                T.c2d_im2col(image, tile, 0, 0, 3, 1, 1, 1)
                T.copy(tile, rows)
    """
    im2col(*arguments, **options)
