"""The rewritten twin of a function: same globals, closure and defaults, other code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CellType, CodeType, FunctionType
from typing import Any

from tilewright.frontend.hooks import Hooks
from tilewright.frontend.rewrite import rewrite_function
from tilewright.frontend.rewrite_expr import HOOKS
from tilewright.support.errors import LanguageError, Location, is_ours
from tilewright.support.source import function_node
from tilewright.types.dtypes import is_dtype

# By file too: code objects of equal text in two files compare equal.
_rewritten: dict[tuple[str, CodeType, str], tuple[CodeType, Hooks]] = {}
_twins: set[CodeType] = set()


def twin_of(function: FunctionType, kind: str) -> FunctionType:
    """The twin of `function`; it is rewritten once for each code object."""
    original = function.__code__
    key = (original.co_filename, original, kind)
    if key not in _rewritten:
        with _deep_recursion(original):
            node = function_node(function)
            _rewritten[key] = rewrite_function(
                node, original.co_filename, kind, original.co_freevars
            )
        _twins.add(_rewritten[key][0])
    code, hooks = _rewritten[key]
    cells = dict(zip(original.co_freevars, function.__closure__ or (), strict=True))
    cells[HOOKS] = CellType(hooks)
    closure = tuple(cells[name] for name in code.co_freevars)
    twin = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    twin.__kwdefaults__ = function.__kwdefaults__
    return twin


#: Enough for any expression that Python itself compiles with its usual limit.
_DEEPEST = 20_000


@contextmanager
def _deep_recursion(code: CodeType) -> Iterator[None]:
    """Syntax trees are walked by recursion: an expression of 500 terms is as deep as it is long."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEEPEST))
    try:
        yield
    except RecursionError:
        raise LanguageError(
            f"an expression in '{code.co_name}' has too many terms, or statements are nested too "
            "deeply",
            hint="split it: give parts of it names",
            location=Location(code.co_filename, code.co_firstlineno),
        ) from None
    finally:
        sys.setrecursionlimit(limit)


def is_twin(code: CodeType) -> bool:
    """True for the code of a rewritten function."""
    return code in _twins


_AS_TENSOR = """write 'A: T.Tensor((M, N), "float16")'"""


def annotations_of(function: FunctionType, enclosing: dict[str, Any]) -> dict[str, Any]:
    """Annotations as values; texts (from __future__ import annotations) are evaluated."""
    names = function.__code__.co_freevars
    cells = zip(names, function.__closure__ or (), strict=True)
    scope = {**enclosing, **{name: cell.cell_contents for name, cell in cells if _is_full(cell)}}
    result = {}
    for name, value in function.__annotations__.items():
        if type(value) is str and not is_dtype(value):
            try:
                value = eval(value, function.__globals__, scope)
            except (NameError, SyntaxError, TypeError, AttributeError) as error:
                text = f"the type of parameter '{name}', '{value}', is no expression of Python"
                raise LanguageError(f"{text}: {error}", hint=_AS_TENSOR) from None
        result[name] = value
    return result


def _is_full(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def enclosing_locals() -> dict[str, Any]:
    """The locals of the innermost frame outside this package."""
    frame = sys._getframe(1)
    while frame is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return dict(frame.f_locals) if frame is not None else {}
