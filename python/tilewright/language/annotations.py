"""What a program says about its tensors and values, and diagnostics."""

from __future__ import annotations

from typing import Any

from tilewright.frontend import trace
from tilewright.frontend.loops import truth
from tilewright.frontend.trace import Buffer, describe, is_kernel_value, is_scalar
from tilewright.language import narrow
from tilewright.language.kernel import _in_kernel
from tilewright.support.errors import LanguageError
from tilewright.types.layout import Fragment, Layout


def annotate_layout(layouts: dict[Buffer, Any]) -> None:
    """Fixes where the elements of buffers sit: `{buffer: Layout | Fragment | function}`.

    On a shared tile or a fragment this is a placement and changes no value; a `T.alloc_local` stays
    with its thread. On a global tensor it is visible: the host's array holds element
    (i, j) at `row_major(layout(i, j))`.

    Example:
        T.annotate_layout({s: T.Layout((64, 64), lambda i, j: [i, j ^ (i % 32)])})
        T.copy(s, B)
    """
    state = _in_kernel("T.annotate_layout")
    if not isinstance(layouts, dict):
        raise LanguageError(
            f"'T.annotate_layout' takes a dict {{buffer: layout}}, got {describe(layouts)}"
        )
    for buffer, layout in layouts.items():
        buffer = narrow.carrier(buffer, "T.annotate_layout")
        if type(buffer) is not Buffer:
            raise LanguageError(f"'T.annotate_layout': expected a buffer, got {describe(buffer)}")
        if not isinstance(layout, Layout | Fragment):
            if not callable(layout):
                raise LanguageError(
                    f"'T.annotate_layout' of '{buffer.name}': expected a T.Layout, a T.Fragment or "
                    f"a function of the indices, got {describe(layout)}"
                )
            layout = Layout(buffer.shape, layout)
        if buffer.scope_name != "local":  # a thread's own array has one place
            state.core.annotate_layout(buffer, layout.core)


def annotate_safe_value(values: dict[Buffer, float]) -> None:
    """What a read beyond the edge of a global tensor gives: `{tensor: number}`; 0 otherwise.

    Example:
        T.annotate_safe_value({A: -1.0})
        for i, j in T.Parallel(64, 64):
            B[i, j] = A[i + 1, j]  # -1 in the last row
    """
    state = trace.require("T.annotate_safe_value")
    for buffer, value in values.items():
        if type(buffer) is not Buffer:
            raise LanguageError(
                f"'T.annotate_safe_value': expected a tensor, got {describe(buffer)}"
            )
        if is_kernel_value(value) or not is_scalar(value):
            raise LanguageError(
                f"'T.annotate_safe_value' of '{buffer.name}': expected a number, got "
                f"{describe(value)}"
            )
        state.core.annotate_safe_value(buffer, value)


def assume(condition: Any) -> None:
    """A fact the compiler may rely on; the interpreter checks it.

    Example:
        T.assume(N[0, 0] >= 0)
        T.copy(A, B)
    """
    state = trace.require("T.assume")
    if is_kernel_value(condition):
        state.core.assume(truth(state, condition))
    elif not condition:
        raise LanguageError("'T.assume' of something that is false")


def device_assert(condition: Any, msg: str = "device assertion failed") -> None:
    """Stops the kernel with `msg` where the condition does not hold.

    Example:
        T.device_assert(N[0, 0] >= 0, "negative")
        T.copy(A, B)
    """
    state = _in_kernel("T.device_assert")
    if is_kernel_value(condition):
        state.core.assert_(truth(state, condition), str(msg))
    elif not condition:
        raise LanguageError(f"'T.device_assert' can never hold: {msg}")


def print(obj: Any = None, msg: str = "") -> None:
    """Prints a value, a tile or a text when the kernel runs.

    Example:
        T.print(A[0, 0], msg="first")
        T.copy(A, B)
    """
    state = _in_kernel("T.print")
    if isinstance(obj, str):
        state.core.print_(obj, None)
    elif obj is None:
        state.core.print_(str(msg), None)
    elif type(obj) is Buffer or is_scalar(obj):
        state.core.print_(str(msg), obj)
    else:
        raise LanguageError(f"'T.print' prints scalars, tiles and texts, not {describe(obj)}")
