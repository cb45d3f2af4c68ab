"""`return` in a kernel, and the conditions of guards (see jumps.py)."""

from __future__ import annotations

from typing import Any

from tilewright.frontend.trace import TraceState, Var
from tilewright.support.errors import LanguageError


class FunctionState:
    """One call of a rewritten function: has it returned at run time?"""

    def __init__(self, state: TraceState, kind: str) -> None:
        self._state = state
        self._kind = kind
        self._base = len(state.regions)
        self._flag: Any = None
        self._kernel = state.kernels

    def returns(self, value: Any, has_value: bool, loops: tuple[Any, ...]) -> bool:
        """True if Python may really return; else the flags that skip the rest are set."""
        inner = [r for r in self._state.regions[self._base :] if r.kind != "kernel"]
        if not inner:
            return True
        for region in inner:
            if region.kind in ("parallel", "pipelined", "vectorized", "persistent"):
                raise LanguageError(
                    f"'return' inside {_LOOP_NAMES[region.kind]}",
                    hint="only T.serial, T.unroll and while loops can be left early",
                )
        if has_value and value is not None:
            raise LanguageError(
                "'return' of a value under a run-time condition",
                hint="assign the value to a variable in each branch and return it at the end",
            )
        if self._flag is None:
            depth = inner[0].depth
            self._flag = self._state.core.alloc_var_outside(depth, "bool", False, "returned")
            self._kernel = self._state.kernels
            if self._state.regions and self._state.regions[0].kind == "kernel":
                self._state.returned_in_kernel = self._kind != "macro"
        self._flag.store(True)
        for loop in loops:
            loop.stop_after_return()
        return False

    def flag(self) -> Any:
        """The variable that says 'returned', if one exists in the current kernel. A thread that
        returns ends its part of the kernel: what follows the kernel runs."""
        is_open = self._state.innermost(("kernel",)) is not None
        return self._flag if is_open and self._kernel == self._state.kernels else None


_LOOP_NAMES = {
    "parallel": "T.Parallel",
    "pipelined": "T.Pipelined",
    "vectorized": "T.vectorized",
    "persistent": "T.Persistent",
}


def keep_going(
    state: TraceState, loop: Any, function: FunctionState | None, kinds: tuple[str, ...]
) -> Any:
    """True, or the kernel value "no jump of these kinds was taken"."""
    flags: list[Var] = []
    if loop is not None and "break" in kinds and loop.break_flag is not None:
        flags.append(loop.break_flag)
    if loop is not None and "continue" in kinds and loop.continue_flag is not None:
        flags.append(loop.continue_flag)
    if function is not None and "return" in kinds and function.flag() is not None:
        flags.append(function.flag())
    if not flags:
        return True
    taken = flags[0].load()
    for flag in flags[1:]:
        taken = state.core.binary("or", taken, flag.load())
    return state.core.unary("not", taken)
