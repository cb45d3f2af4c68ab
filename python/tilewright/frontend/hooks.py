"""What rewritten kernel code calls.

One `Hooks` object belongs to each rewritten function and is its only extra name. Each hook asks
whether it got Python values (then it does what Python does) or kernel values (then it builds IR).
"""

from __future__ import annotations

import operator
import sys
from typing import Any

from tilewright.frontend import trace
from tilewright.frontend.branches import (
    SKIPPED,
    TAKEN,
    NamedBranch,
    TracedBranch,
    refuse_raise,
    snapshot,
)
from tilewright.frontend.builtins import KERNEL_BUILTINS
from tilewright.frontend.carried import LoopInfo, store_checked
from tilewright.frontend.jump_state import FunctionState, keep_going
from tilewright.frontend.loops import While, start_for, truth
from tilewright.frontend.trace import (
    UNBOUND,
    Buffer,
    Element,
    Unbound,
    Var,
    describe,
    is_kernel_value,
    is_scalar,
)
from tilewright.support.errors import LanguageError

__tracebackhide__ = True  # pytest shows the user's frames

_CONTAINERS = (list, dict, set)


def plural(noun: str, count: int) -> str:
    """The noun as it follows a number."""
    if count == 1:
        return noun
    return noun.removesuffix("ex") + "ices" if noun.endswith("ex") else noun + "s"


class _Key:
    """`key[i, 0:4]` gives the key itself, so that it can be evaluated once and used twice."""

    def __getitem__(self, key: Any) -> Any:
        return key


class _Keeper:
    """Calls methods of a container with the values that arguments have now: it keeps them."""

    def __init__(self, hooks: Hooks, owner: Any) -> None:
        self._hooks, self._owner = hooks, owner

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._owner, name)
        return lambda *args, **kwargs: method(*map(self._hooks.value, args), **kwargs)


class Hooks:
    """The hooks of one rewritten function."""

    UNBOUND: Unbound = UNBOUND
    key = _Key()

    iadd = staticmethod(operator.iadd)
    isub = staticmethod(operator.isub)
    imul = staticmethod(operator.imul)
    itruediv = staticmethod(operator.itruediv)
    ifloordiv = staticmethod(operator.ifloordiv)
    imod = staticmethod(operator.imod)
    ipow = staticmethod(operator.ipow)
    ilshift = staticmethod(operator.ilshift)
    irshift = staticmethod(operator.irshift)
    iand = staticmethod(operator.iand)
    ior = staticmethod(operator.ior)
    ixor = staticmethod(operator.ixor)
    imatmul = staticmethod(operator.imatmul)

    def __init__(self, file: str, kind: str) -> None:
        self.file = file
        self.kind = kind
        self.loops: list[LoopInfo] = []
        self.parameters: dict[str, Any] = {}  # of a prim_func, and where one is assigned first

    # ---- Statements ----

    def at(self, line: int, column: int, name: str | None = None) -> None:
        """The statement at this location runs next; `name` is what it assigns, if one name."""
        state = trace.active()
        if state is not None:
            state.core.locate(self.file, line, column)
            state.name_hint = name

    def function(self) -> FunctionState:
        """Begins a call of the function, if it may return early."""
        return FunctionState(trace.require("return"), self.kind)

    def if_(self, condition: Any, names: tuple[str, ...], live: tuple[str, ...], line: int) -> Any:
        """Begins an `if`; see branches.py."""
        if not is_kernel_value(condition):
            return TAKEN if condition else SKIPPED
        state = trace.require("if")
        entry = snapshot(sys._getframe(1), names) if names else {}
        return TracedBranch(state, truth(state, condition), entry, live, line)

    def condition_of(self, branch: Any) -> Any:
        """The condition of a `T.If` or `T.While`; see named_statements.py."""
        if not isinstance(branch, NamedBranch):
            raise LanguageError(
                f"'with ….If(…)' and 'with ….While(…)' take the language's T.If and T.While, got "
                f"{describe(branch)}"
            )
        return branch.condition

    def for_(self, iterable: Any, number: int) -> Any:
        """Begins a `for`; see loops.py."""
        return start_for(trace.active(), iterable, self.loops[number])

    def while_(self, number: int) -> While:
        """Begins a `while`; see loops.py."""
        return While(trace.require("while"), self.loops[number], sys._getframe(1))

    def keep_going(self, loop: Any, function: Any, kinds: tuple[str, ...]) -> Any:
        """The condition of a guard after a statement that may jump; see jumps.py."""
        state = trace.active()
        return True if state is None else keep_going(state, loop, function, kinds)

    def before_raise(self) -> None:
        """`raise` is about to run."""
        refuse_raise(trace.active())

    def assert_(self, condition: Any, message: Any) -> bool:
        """`assert`: false if Python has to raise; `message` is a function."""
        if not is_kernel_value(condition):
            return bool(condition)
        state = trace.require("assert")
        text = message() if message is not None else "assertion failed"
        state.core.assert_(truth(state, condition), str(text))
        return True

    # ---- Assignments ----

    def value(self, value: Any) -> Any:
        """`value` as it is now: elements and variables are read, also inside tuples and lists."""
        kind = type(value)
        if kind is Element:
            return value.load()
        if kind is Var:
            state = trace.active()
            return value.load() if state is None or id(value) in state.bound_vars else value
        if kind is tuple:
            frozen = tuple(self.value(item) for item in value)
            return frozen if any(a is not b for a, b in zip(frozen, value, strict=True)) else value
        if kind is list or kind is dict:
            items = enumerate(value) if kind is list else list(value.items())
            for key, item in items:
                if type(item) is not int:
                    value[key] = self.value(item)
        return value

    def bind(self, value: Any) -> Any:
        """What a name is bound to by `name = value`."""
        return self._bound(self.value(value))

    def _bound(self, value: Any) -> Any:
        """Notes what must be known about a value that has a name now."""
        kind = type(value)
        if kind is Var:
            trace.require("T.alloc_var").bound_vars[id(value)] = value
        elif kind is trace.Expr:
            state = trace.active()
            if state is not None:
                state.core.named(value)
        elif kind in _CONTAINERS:
            state = trace.active()
            if state is not None:
                state.containers.setdefault(id(value), (value, state.control_flow()))
        return value

    def mutable(self, value: Any) -> Any:
        """`value`, whose contents are about to change; Python does that while tracing, so it must
        not depend on run-time control flow: only what the same region made may change in it."""
        state = trace.active()
        if state is None or type(value) in (Buffer, Element, Var):
            return value
        _, region = state.containers.get(id(value), (None, None))
        here = state.control_flow()
        if here is not None and here is not region:
            raise LanguageError(
                f"a Python {type(value).__name__} changes inside the run-time control flow of "
                f"line {here.line}, but Python changes it once, while tracing",
                hint="use T.alloc_var or a tile for values that change at run time",
            )
        return value

    def container(self, value: Any) -> Any:
        """`value`, one of whose methods that change containers is about to be called."""
        return _Keeper(self, self.mutable(value)) if type(value) in _CONTAINERS else value

    def set_item(self, value: Any, owner: Any, key: Any) -> None:
        """`owner[key] = value`."""
        if type(owner) is Buffer or hasattr(owner, "tile"):
            if type(owner) is Buffer and hasattr(value, "tw_store"):
                value.tw_store(owner, key)
            else:
                owner[key] = value
            return
        try:
            old = owner[key]
        except (LookupError, TypeError):
            old = None
        if type(old) is Var and is_scalar(value):
            old.store(value)  # as for a name that holds a variable
        else:
            self.mutable(owner)[key] = self._bound(value)

    def assign(self, name: str, value: Any) -> Any:
        """`name = value` where the name may hold a variable: then the value is stored into it."""
        old = sys._getframe(1).f_locals.get(name)
        value = self.value(value)
        if type(old) is Element:  # a T.Ref parameter
            old.store(value)
            return old
        if type(old) is Var and type(value) is not Var and type(value) is not Buffer:
            state = trace.require("assignment")
            if not is_scalar(value):
                raise LanguageError(
                    f"'{name}' is a variable of type {old.dtype_name} and cannot become "
                    f"{describe(value)}"
                )
            store_checked(state, old, value, name)
            return old
        if old is not value:
            self._hide(name, old, value)
        return self._bound(value)

    def _hide(self, name: str, old: Any, value: Any) -> None:
        """A scalar may hide an argument that is a tensor, up to the end of the loop or branch, as
        in TileLang; other arguments cannot be assigned."""
        state = trace.active()
        if state is None:
            return
        is_argument = name in self.parameters and name not in state.hidden
        if self.kind == "eager" and type(old) is Buffer:
            is_argument = name in state.eager.tensors
        if type(old) is Buffer and is_argument and is_scalar(value) and self.kind == "prim_func":
            state.hidden[name] = old
        elif is_argument:
            raise LanguageError(
                f"'{name}' is an argument of the kernel and cannot be assigned",
                hint=f"store into it ('{name}[...] = ...') or use another name",
                location=self.parameters.get(name),
            )

    def typed(self, annotation: Any, value: Any) -> Any:
        """`name: T.int32 = value`; other annotations mean nothing, as in Python."""
        from tilewright.types.dtypes import canonical, dtype

        value = self.bind(value)
        if type(annotation) is dtype and is_scalar(value):
            return trace.require("typed binding").core.cast(value, str(canonical(annotation)))
        return value

    def declare(self, name: str, annotation: Any) -> Any:
        """`name: T.Tensor[...]` without a value: a parameter of an eager function."""
        from tilewright.frontend.eager import declare_tensor

        return declare_tensor(self.kind, name, annotation)

    def unpack(self, value: Any, count: int, what: str) -> Any:
        """`value` as a sequence of `count` items for a tuple of names."""
        noun = {"for": "variable", "with": "block index"}.get(what, "value")
        single = type(value) is Buffer or is_kernel_value(value)
        try:
            items = (value,) if single else tuple(value)
        except TypeError:
            raise LanguageError(f"{count} names for {describe(value)}") from None
        if len(items) != count or (single and what != "with"):
            raise LanguageError(f"{count} names for {len(items)} {plural(noun, len(items))}")
        return self.value(items)

    # ---- Expressions ----

    def not_(self, value: Any) -> Any:
        """`not value`."""
        if not is_kernel_value(value):
            return not value
        state = trace.require("not")
        return state.core.unary("not", truth(state, value))

    def and_begin(self, left: Any) -> bool:
        """`left and …`: true if the right side is to be evaluated."""
        if not is_kernel_value(left):
            trace.push_pending(None if left else left)
            return bool(left)
        state = trace.require("and")
        left = left if type(left) is trace.Expr else self.value(left)
        trace.push_pending((left, "and"))
        state.core.select_begin(truth(state, left))
        return True

    def or_begin(self, left: Any) -> bool:
        """`left or …`: true if the right side is to be evaluated."""
        if not is_kernel_value(left):
            trace.push_pending(left if left else None)
            return not left
        state = trace.require("or")
        left = left if type(left) is trace.Expr else self.value(left)
        trace.push_pending((left, "or"))
        state.core.select_begin(self.not_(left))
        return True

    def bool_end(self, right: Any) -> Any:
        """The value of `left and right` or `left or right` once the right side is known."""
        pending = trace.pop_pending()
        if pending is None:
            return right
        left, operation = pending
        state = trace.require(operation)
        if not is_scalar(right):
            raise LanguageError(
                f"'{operation}' of a run-time value and {describe(right)}",
                hint="both sides must be scalars",
            )
        # The value is Python's: the left side where it decides, else the right one.
        if trace.dtype_of(left) == "bool" and trace.dtype_of(right) == "bool":
            state.core.select_else(right)
            result = state.core.select_end(operation == "or")
            if not is_kernel_value(right) and bool(right) == (operation == "or"):
                return bool(right)  # known while tracing, so that a branch on it is no branch
            return result
        state.core.select_else(right)
        return state.core.select_end(left)

    def bool_skip(self) -> Any:
        """The value of `left and …` or `left or …` where Python's left side decides."""
        return trace.pop_pending()

    def choose_begin(self, condition: Any) -> bool:
        """`a if condition else b`: true if `a` is to be evaluated."""
        if not is_kernel_value(condition):
            trace.push_pending(bool(condition))
            return bool(condition)
        state = trace.require("conditional expression")
        trace.push_pending("traced")
        state.core.select_begin(truth(state, condition))
        return True

    def choose_else(self, value: Any) -> bool:
        """Takes `a`; true if `b` is to be evaluated."""
        pending = trace.pop_pending()
        if pending is False:
            trace.push_pending(None)
            return True
        if pending is True:
            trace.push_pending((value,))
            return False
        self._require_choice(value)
        trace.require("conditional expression").core.select_else(value)
        trace.push_pending("traced")
        return True

    def choose_end(self, value: Any) -> Any:
        """Takes `b`; the value of the whole expression."""
        if trace.pop_pending() is None:
            return value
        self._require_choice(value)
        return trace.require("conditional expression").core.select_end(value)

    def choose_result(self) -> Any:
        """The value of the expression where Python chose `a`."""
        return trace.pop_pending()[0]

    def _require_choice(self, value: Any) -> None:
        if not is_scalar(value):
            raise LanguageError(
                f"a conditional expression on a run-time value cannot choose {describe(value)}",
                hint="only scalars can be chosen at run time; write an 'if' statement",
            )

    def in_(self, value: Any, container: Any) -> Any:
        """`value in container`."""
        if not is_kernel_value(value):
            return value in container
        state = trace.require("in")
        value = self.value(value)
        found = state.core.constant(False, "bool")
        for item in container:
            found = state.core.binary("or", found, state.core.binary("eq", value, item))
        return found

    def not_in(self, value: Any, container: Any) -> Any:
        """`value not in container`."""
        return self.not_(self.in_(value, container))

    def builtin(self, function: Any) -> Any:
        """`function`, or the kernel's version if it is a Python builtin that has one."""
        try:
            return KERNEL_BUILTINS.get(function, function)
        except TypeError:  # not hashable
            return function
