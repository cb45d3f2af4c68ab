"""Logic and branches by name: `T.And`, `T.Or`, `T.Not`, `with T.If(c): with T.Then(): …`.

They mean what Python's `and`, `or`, `not` and `if` mean in a kernel. The forms `with T.If(…)` and
`with T.While(…)` are rewritten into `if` and `while` statements before a function is traced
(frontend/named_statements.py); so are `T.loop_break()`, `T.continue_loop()` and
`T.thread_return()`.
"""

from __future__ import annotations

from typing import Any

from tilewright.frontend import trace
from tilewright.frontend.branches import NamedBranch
from tilewright.frontend.loops import truth
from tilewright.frontend.trace import describe, is_kernel_value, is_scalar
from tilewright.language.scalars import if_then_else
from tilewright.support.errors import LanguageError


def _truth(value: Any, what: str) -> Any:
    """A scalar as a bool, of Python where Python knows it."""
    if not is_scalar(value):
        raise LanguageError(f"'{what}' needs a scalar condition, got {describe(value)}")
    return truth(trace.require(what), value) if is_kernel_value(value) else bool(value)


def And(a: Any, b: Any, span: Any = None) -> Any:
    """True where both conditions hold; `b` is only read where `a` holds.

    Example:
        B[i, j] = T.if_then_else(T.And(A[i, j] > 0, i < j), 1.0, 0.0)
    """
    a, b = _truth(a, "T.And"), _truth(b, "T.And")
    return if_then_else(a, b, False)


def Or(a: Any, b: Any, span: Any = None) -> Any:
    """True where a condition holds; `b` is only read where `a` does not hold.

    Example:
        B[i, j] = T.if_then_else(T.Or(A[i, j] > 0, i < j), 1.0, 0.0)
    """
    a, b = _truth(a, "T.Or"), _truth(b, "T.Or")
    return if_then_else(a, True, b)


def Not(a: Any, span: Any = None) -> Any:
    """True where the condition does not hold.

    Example:
        B[i, j] = T.if_then_else(T.Not(A[i, j] > 0), 1.0, 0.0)
    """
    a = _truth(a, "T.Not")
    return trace.require("T.Not").core.unary("not", a) if is_kernel_value(a) else not a


class If(NamedBranch):
    """`with T.If(c):` holds `with T.Then():` and perhaps `with T.Else():`, and means

        if c: …
        else: …

    `with T.If(c), T.Then():` is the short form.

    Example:
        with T.If(N[0, 0] > 0):
            with T.Then():
                B[0, 0] = 1.0
            with T.Else():
                B[0, 0] = 2.0
    """

    def __init__(self, condition: Any) -> None:
        if not is_scalar(condition):
            raise LanguageError(f"'T.If' needs a scalar condition, got {describe(condition)}")
        super().__init__(condition)

    def __enter__(self) -> None:
        raise LanguageError(
            "'with T.If(c):' holds 'with T.Then():', then perhaps 'with T.Else():', and nothing "
            "else",
            hint="or write 'if c:'",
        )

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None: ...


class While(NamedBranch):
    """`with T.While(c):` is `while c:`; the condition is evaluated before each iteration.

    Example:
        k = T.alloc_var("int32", init=0)
        with T.While(k < 4):
            B[0, k] = A[0, k]
            k = k + 1
    """

    def __init__(self, condition: Any) -> None:
        if not is_scalar(condition):
            raise LanguageError(f"'T.While' needs a scalar condition, got {describe(condition)}")
        super().__init__(condition)

    def __enter__(self) -> None:
        raise LanguageError(
            "'with T.While(c):' stands alone in its 'with'", hint="write 'while c:'"
        )

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None: ...


class _Side:
    """A side of a `T.If` that does not stand in one."""

    def __init__(self) -> None:
        raise LanguageError(f"'T.{type(self).__name__}' stands right inside 'with T.If(c):'")


class Then(_Side):
    """The statements of a `T.If` where its condition holds.

    Example:
        with T.If(N[0, 0] > 0):
            with T.Then():
                B[0, 0] = 1.0
            with T.Else():
                B[0, 0] = 2.0
    """


class Else(_Side):
    """The statements of a `T.If` where its condition does not hold.

    Example:
        with T.If(N[0, 0] > 0):
            with T.Then():
                B[0, 0] = 1.0
            with T.Else():
                B[0, 0] = 2.0
    """


def loop_break() -> None:
    """As `break`: a statement of its own in a loop.

    Example:
        for k in T.serial(64):
            if A[0, k] > 1.0:
                T.loop_break()
            B[0, k] = A[0, k]
    """
    raise LanguageError("'T.loop_break()' is a statement in a 'for' or 'while' loop")


def break_loop() -> None:
    """As `T.loop_break`.

    Example:
        for k in T.serial(64):
            if A[0, k] > 1.0:
                T.break_loop()
            B[0, k] = A[0, k]
    """
    raise LanguageError("'T.break_loop()' is a statement in a 'for' or 'while' loop")


def continue_loop() -> None:
    """As `continue`: a statement of its own in a loop.

    Example:
        for k in T.serial(64):
            if A[0, k] > 1.0:
                T.continue_loop()
            B[0, k] = A[0, k]
    """
    raise LanguageError("'T.continue_loop()' is a statement in a 'for' or 'while' loop")


def thread_return() -> None:
    """As `return` in the body of a kernel: the threads that come here do nothing more.

    Example:
        if tx >= 64:
            T.thread_return()
        B[0, tx] = A[0, tx]
    """
    raise LanguageError(
        "'T.thread_return()' is a statement in a kernel's own function, not in a macro"
    )
