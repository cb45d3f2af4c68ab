"""`T.tvm_thread_allreduce`: a reduction along one dimension of the block's threads, as TVM has it.

    with T.attr(T.comm_reducer(lambda x, y: x + y, [T.float32(0)]), "reduce_scope", …):
        T.evaluate(T.tvm_thread_allreduce(T.uint32(1), value, True, result[0], tk, dtype="handle"))

All threads that differ only in `tk` have the combined value in `result[0]`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tilewright.frontend import trace
from tilewright.frontend.trace import Element, describe
from tilewright.language.exchange import published
from tilewright.language.kernel import _in_kernel
from tilewright.support.errors import LanguageError


class Reducer(NamedTuple):
    """How two values are combined, and what a combination starts from."""

    combine: Callable[[Any, Any], Any]
    identity: Any


def comm_reducer(combiner: Callable[[Any, Any], Any], identity: list[Any]) -> Reducer:
    """A reduction: a function of two values that commutes, and its neutral element."""
    if len(identity) != 1:
        raise LanguageError(f"'T.comm_reducer' of {len(identity)} values is not supported")
    return Reducer(combiner, identity[0])


#: Keys of T.attr that say how copies run, and nothing about values.
_HINTS = ("async_scope", "async_commit_queue_scope", "async_wait_queue_scope", "pragma_unroll")


class attr:  # noqa: N801 - the language calls it `T.attr`
    """`with T.attr(reducer, "reduce_scope", …):` names the reduction of the statements inside.

    "async_scope" and its like let copies run ahead: a hint.
    """

    def __init__(self, node: Any, attr_key: str, value: Any = None) -> None:
        is_hint = attr_key in _HINTS
        if not is_hint and (attr_key != "reduce_scope" or not isinstance(node, Reducer)):
            raise LanguageError(
                f"'T.attr' with '{attr_key}' is not supported; only 'reduce_scope' of a "
                "T.comm_reducer and 'async_scope' are"
            )
        self._reducer = None if is_hint else node

    def __enter__(self) -> None:
        state = trace.require("T.attr")
        if self._reducer is not None:
            state.reducers.append(self._reducer)

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if self._reducer is not None:
            trace.require("T.attr").reducers.pop()


def evaluate(value: Any) -> None:
    """A statement for its effect, which tracing the value has had already.

    Example:
        T.evaluate(0)
        T.copy(A, B)
    """


def tvm_thread_allreduce(
    size: Any, value: Any, condition: Any, result: Any, *axes: Any, dtype: Any = None
) -> None:
    """Combines the values of the threads along one dimension into `result` of each of them."""
    what = "T.tvm_thread_allreduce"
    state = _in_kernel(what)
    if not state.reducers:
        raise LanguageError(f"'{what}' stands inside 'with T.attr(T.comm_reducer(…), …)'")
    if type(result) is not Element:
        raise LanguageError(f"'{what}': the result must be an element, got {describe(result)}")
    if condition is not True or len(axes) != 1:
        raise LanguageError(f"'{what}' takes the condition True, one result and one thread index")
    dim = next((dim for index, dim in state.thread_indices if index is axes[0]), None)
    if dim is None:
        raise LanguageError(f"'{what}': the last argument must be a T.get_thread_binding")
    reducer = state.reducers[-1]
    tile, thread = published(value, what)
    stride = 1
    for extent in state.threads[:dim]:
        stride *= extent
    first = thread - axes[0] * stride
    total = reducer.identity
    for number in range(state.threads[dim]):
        total = reducer.combine(total, tile[first + number * stride].load())
    result.store(total)
