"""Tiles and variables of a kernel."""

from __future__ import annotations

from typing import Any

from tilewright.frontend import trace
from tilewright.frontend.trace import Buffer, Var, is_scalar
from tilewright.language.kernel import _in_kernel
from tilewright.support.errors import LanguageError
from tilewright.types.dtypes import canonical, narrow_name
from tilewright.types.tensor_type import check_shape


def _alloc(what: str, shape: Any, dtype: Any, scope: str, reducer: str | None = None) -> Any:
    state = _in_kernel(what)
    if hasattr(dtype, "lanes") and not isinstance(dtype, str) and reducer is None:
        from tilewright.language.vectors import PackedTile

        inner = check_shape(shape, what)
        return PackedTile(_alloc(what, (*inner, dtype.lanes), dtype.element, scope), dtype)
    if narrow_name(dtype) is not None:
        from tilewright.language import narrow

        if reducer is not None:
            raise LanguageError(f"{what}: a reducer of {dtype} is not supported")
        return narrow.alloc(lambda s, kind: _alloc(what, s, kind, scope), shape, dtype)
    name = state.take_name(scope)
    shape = check_shape(shape, f"{what} '{name}'")
    for extent in shape:
        if not isinstance(extent, int):
            raise LanguageError(
                f"{what} '{name}': a tile has a fixed shape, {extent} is only known at run time",
                hint="round it up to a constant and guard the edges",
            )
    return state.core.alloc(name, list(shape), str(canonical(dtype)), scope, reducer)


def alloc_shared(shape: Any, dtype: Any, scope: str = "shared.dyn") -> Buffer:
    """A tile in the block's shared memory; its elements have no value until written.

    Example:
        x = T.alloc_shared((64, 64), "float16")
        T.copy(A, x)  # converts
        T.copy(x, B)
    """
    if not scope.startswith("shared"):
        raise LanguageError(f"T.alloc_shared: scope '{scope}' is not a shared memory")
    return _alloc("T.alloc_shared", shape, dtype, "shared")


def alloc_fragment(shape: Any, dtype: Any, scope: str = "local.fragment") -> Buffer:
    """A tile spread over the registers of the block's threads; the layout is inferred. With the
    scope "local" it is a `T.alloc_local`.

    Example:
        x = T.alloc_fragment((64, 64), "float32")
        T.copy(A, x)
        T.copy(x, B)
    """
    if scope == "local":
        return alloc_local(shape, dtype)
    if scope != "local.fragment":
        raise LanguageError(f"T.alloc_fragment: scope '{scope}' is not 'local.fragment'")
    return _alloc("T.alloc_fragment", shape, dtype, "fragment")


def alloc_reducer(
    shape: Any, dtype: Any, op: str = "sum", replication: str | None = None
) -> Buffer:
    """A tile of running reductions ("sum", "max", "min", "bitand", "bitor" or "bitxor").

    `T.reducer_init` starts it, or `T.fill`; `T.reducer_update(r[i], x)` contributes, or a store of
    `r[i]` combined with `x` (`r[i] += x`, `r[i] = T.max(r[i], x)`); `T.finalize_reducer` makes the
    result readable. Each contribution counts once.

    Example:
        r = T.alloc_reducer((64,), "float32", op="sum")
        T.reducer_init(r)
        for i, j in T.Parallel(64, 64):
            T.reducer_update(r[i], A[i, j])
        T.finalize_reducer(r)
        for i in T.Parallel(64):
            B[0, i] = r[i]
    """
    kind = op.removeprefix("bit") if isinstance(op, str) else op
    if kind not in ("sum", "max", "min", "and", "or", "xor"):
        raise LanguageError(
            f"T.alloc_reducer: op is 'sum', 'max', 'min', 'bitand', 'bitor' or 'bitxor', got {op!r}"
        )
    if kind in ("and", "or", "xor") and canonical(dtype).is_float():
        raise LanguageError(f"T.alloc_reducer: {op!r} needs integers, got {canonical(dtype)}")
    return _alloc("T.alloc_reducer", shape, dtype, "fragment", kind)


def alloc_local(shape: Any, dtype: Any, scope: str = "local") -> Buffer:
    """An array for each thread of the block; its elements have no value until written.

    It lives in registers where its indices are known once loops are unrolled, else in shared
    memory. `T.copy`, `T.fill` and `T.clear` on it are each thread's own.

    Example:
        x = T.alloc_local((4,), "float32")  # of each thread
        for k in T.serial(4):
            x[k] = A[k, tx % 64]
        for k in T.serial(4):
            if tx < 64:
                B[k, tx] = x[k]
    """
    if not scope.startswith("local"):
        raise LanguageError(f"T.alloc_local: scope '{scope}' is not a thread's memory")
    return _alloc("T.alloc_local", shape, dtype, "local")


def alloc_buffer(shape: Any, dtype: Any = "float32", *, scope: str = "global") -> Buffer:
    """A buffer by the name of its memory: "global", "shared", "local.fragment" or "local".

    Example:
        x = T.alloc_buffer((64, 64), "float32", scope="shared")
        T.copy(A, x)
        T.copy(x, B)
    """
    if scope == "global":
        return alloc_global(shape, dtype)
    if scope.startswith("shared"):
        return alloc_shared(shape, dtype, scope)
    return alloc_fragment(shape, dtype, scope)


def alloc_global(shape: Any, dtype: Any) -> Buffer:
    """A workspace in global memory for this launch, visible to all blocks.

    Example:
        x = T.alloc_global((64, 64), "float32")
        with T.Kernel(1, threads=128):
            T.copy(A, x)
        with T.Kernel(1, threads=128):
            T.copy(x, B)
    """
    state = trace.require("T.alloc_global")
    name = state.take_name("workspace")
    if state.regions:
        raise LanguageError("T.alloc_global belongs in front of 'with T.Kernel(...)'")
    shape = check_shape(shape, f"T.alloc_global '{name}'", allow_zero=True)
    return state.core.alloc_global(name, list(shape), str(canonical(dtype)))


def alloc_var(dtype: Any, *arguments: Any, init: Any = None, scope: str = "local.var") -> Var:
    """A scalar that can change: assigning to its name stores into it.

        n = T.alloc_var("int32", init=0)
        n = n + 1            # stores
        B[0] = n             # loads

    Without `init` it has no value until it is assigned.

    Example:
        total = T.alloc_var("float32", init=0.0)
        for k in T.serial(64):
            total += A[0, k]
        B[0, 0] = total
    """
    state = _in_kernel("T.alloc_var")
    if isinstance(dtype, list | tuple):
        raise LanguageError(
            f"T.alloc_var makes one number of a dtype, got the shape {dtype}",
            hint="use T.alloc_local(shape, dtype) for several",
        )
    for argument in arguments:
        if isinstance(argument, str):
            scope = argument
        elif init is None:
            init = argument
        else:
            raise LanguageError("T.alloc_var takes one initial value")
    if scope not in ("local.var", "local"):
        raise LanguageError(f"T.alloc_var: scope '{scope}' is not 'local.var'")
    if init is not None and not is_scalar(init):
        raise LanguageError(
            f"T.alloc_var: the initial value is {trace.describe(init)}, not a scalar"
        )
    return state.core.alloc_var(str(canonical(dtype)), init, state.take_name("var"))
