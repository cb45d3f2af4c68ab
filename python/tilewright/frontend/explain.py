"""Runs a trace; turns what goes wrong in it into a report, or lets it pass.

Mistakes against the language are reports at the user's line. So are exceptions that an instruction
of the kernel itself raises (a missing argument, an unknown name). Exceptions out of the user's own
helper functions, and its `raise` and `assert`, pass through untouched.
"""

from __future__ import annotations

import ast
import builtins
import dis
import enum
import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any

from tilewright._core import core
from tilewright.frontend import trace, vocabulary
from tilewright.frontend.misfits import misfit
from tilewright.frontend.numpy_guard import refuse_function, twin_of
from tilewright.frontend.trace import TraceState
from tilewright.frontend.twins import is_twin
from tilewright.support.errors import (
    LanguageError,
    Location,
    Note,
    TilewrightError,
    called_from,
    convert,
    debugging,
    excerpt_text,
    internal,
    is_ours,
    location_of_instruction,
    user_locations,
)
from tilewright.support.suggest import hint_for

__tracebackhide__ = True  # pytest shows the user's frames


def run_trace(state: TraceState, body: Callable[[], Any]) -> Any:
    """Runs `body` as a trace. Mistakes in kernel code leave as reports."""
    previous = trace.begin(state)
    try:
        return body()
    except Exception as error:
        report = explain(state, error)
        if report is None or report is error:
            raise
        if debugging():
            raise report from error
    finally:
        trace.finish(state, previous)
    raise report.with_traceback(None) from None


def _kernel_frames(error: Exception) -> int:
    """How many of the user's frames, innermost first, lie inside the traced function."""
    frames = []
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not is_ours(code.co_filename):
            frames.append(code)
        traceback = traceback.tb_next
    for position, code in enumerate(frames):
        if is_twin(code):
            return len(frames) - position
    return len(frames)


def explain(state: TraceState, error: Exception) -> TilewrightError | None:
    """The report for an exception out of a trace, or None if it is the user's own."""
    if isinstance(error, core.TraceError):
        error = _named_function(error) or error
    if isinstance(error, LanguageError | core.TraceError):
        return convert(error, _kernel_frames(error), _advice(error))
    if isinstance(error, TilewrightError):
        return error
    if isinstance(error, core.InternalError):
        return internal(error)
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        if innermost.tb_next.tb_frame.f_code.co_filename == enum.__file__:
            break  # a name that an enumeration of the language does not have
        innermost = innermost.tb_next
    code = innermost.tb_frame.f_code if innermost is not None else None
    if code is not None and is_ours(code.co_filename):
        refused = _refused_arguments(error)
        if refused is not None:
            return convert(refused, _kernel_frames(error))
        mistake = misfit(error)
        if mistake is not None:
            refused = LanguageError(mistake).with_traceback(error.__traceback__)
            return convert(refused, _kernel_frames(error))
        return _explain_inside(error)
    if code is None or not is_twin(code):
        return None
    location = location_of_instruction(code, innermost.tb_lasti)
    inner = 1 if innermost.tb_next is None else 2  # frames of ours or of Python's enumerations
    callers = user_locations(error.__traceback__)[inner : _kernel_frames(error)]
    message = _too_few_indices(error, location, innermost.tb_frame)
    message = message or _explain_direct(state, error, innermost.tb_frame, innermost.tb_lasti)
    return TilewrightError(message, location, called_from(callers)) if message else None


def _advice(error: Exception) -> list[Note]:
    """A note where a plain function got a value that only the kernel can decide on."""
    if getattr(error, "reason", None) != "decision":
        return []
    code = error.__traceback__.tb_frame.f_code
    traceback = error.__traceback__
    while traceback is not None:
        if not is_ours(traceback.tb_frame.f_code.co_filename):
            code = traceback.tb_frame.f_code
        traceback = traceback.tb_next
    if is_twin(code) or is_ours(code.co_filename):
        return []
    location = Location(code.co_filename, code.co_firstlineno)
    text = f"'{code.co_name}' runs as plain Python; make it a @T.macro to trace its control flow"
    return [Note(location, text)]


_CALLED = re.compile(r"\b((?:math|np|numpy)\.\w+)\(")


def _named_function(error: Exception) -> LanguageError | None:
    """The error for `math.sqrt(A[i])`: Python asks the value for a number, which it cannot give."""
    if getattr(error, "reason", None) not in ("number", "decision"):
        return None
    locations = user_locations(error.__traceback__)
    found = _CALLED.search(excerpt_text(locations[0])) if locations else None
    if found is None:
        return None
    return refuse_function(found.group(1)).with_traceback(error.__traceback__)


_INVOKED = re.compile(r"(__[gs]etitem__)\(\): incompatible.*Invoked with types: (.*)", re.DOTALL)


def _refused_arguments(error: Exception) -> LanguageError | None:
    """The error for a Python value that no element of a kernel can be or be found by."""
    found = _INVOKED.search(str(error)) if isinstance(error, TypeError) else None
    if found is None:
        return None
    _, key, *value = [name.strip() for name in found.group(2).split(",")]
    if value and value[0] == "NoneType":
        text = "None is no value that an element can have"
    elif key == "NoneType":
        text = "None is no index; a tile gets no new dimensions by an index"
    else:
        text = f"an element cannot be found by '{key}'" + (
            f" or hold '{value[0]}'" if value else ""
        )
    return LanguageError(text).with_traceback(error.__traceback__)


def _explain_inside(error: Exception) -> TilewrightError:
    if isinstance(error, RecursionError):
        return TilewrightError("the kernel calls itself without end", None)
    return internal(error)


def _unbound_local(frame: Any, offset: int) -> str | None:
    """The local variable without a value that the instruction at `offset` reads."""
    for instruction in dis.get_instructions(frame.f_code):
        if instruction.offset == offset:
            names = instruction.argval
            names = names if isinstance(names, tuple) else (names,)  # some read two at once
            return next((name for name in names if name not in frame.f_locals), None)
    return None


def _explain_direct(
    state: TraceState, error: Exception, frame: Any, instruction: int
) -> str | None:
    """A message for an exception that an instruction of the kernel itself raised."""
    if isinstance(error, NameError):
        name = None
        if isinstance(error, UnboundLocalError):
            name = _unbound_local(frame, instruction)
        if name is not None:
            return state.lost.get(name, f"'{name}' is used before it has a value")
        if error.name == frame.f_code.co_name:
            return f"'{error.name}' is what this program defines; a kernel cannot call itself"
        known = [*frame.f_locals, *frame.f_globals, *vars(builtins)]
        hint = hint_for(error.name or "", known)
        return f"{error}; {hint}" if hint else str(error)
    if isinstance(error, RecursionError):
        return "the kernel calls itself without end"
    if isinstance(
        error,
        TypeError | AttributeError | LookupError | ArithmeticError | ValueError | ImportError
        | StopIteration,
    ):  # fmt: skip
        return _python_message(error)
    return None


def _too_few_indices(error: Exception, location: Location, frame: Any) -> str | None:
    """The message for `s[i] * 2` where `s` has two dimensions: `s[i]` is a row, not a value."""
    if not isinstance(error, TypeError) or "Buffer" not in str(error):
        return None
    try:
        tree = ast.parse(excerpt_text(location).strip())
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
            continue
        buffer = frame.f_locals.get(node.value.id, frame.f_globals.get(node.value.id))
        given = len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
        if isinstance(buffer, core.Buffer) and given < len(buffer.shape):
            text = ast.unparse(node)
            rank = len(buffer.shape)
            return (
                f"'{text}' is a part of '{node.value.id}', which has {rank} dimensions, not an "
                f"element; give it {rank} indices"
            )
    return None


#: Keywords of numpy, torch and Triton, and what the language calls them.
_KEYWORDS = {
    "axis": "dim", "stages": "num_stages", "trans_a": "transpose_A", "trans_b": "transpose_B",
    "num_threads": "threads", "num_warps": "threads",
}  # fmt: skip


def _keyword_hint(name: str, known: Iterable[str]) -> str | None:
    """The keyword that was probably meant: by its usual name elsewhere, or a slip away."""
    twin = _KEYWORDS.get(name)
    return f"did you mean '{twin}'?" if twin in known else hint_for(name, known)


_NO_KEYWORD = re.compile(r"T\.(\w+)\(\) got an unexpected keyword argument '(\w+)'")


def _python_attribute(name: str) -> str:
    twin = twin_of(name)
    text = f"values of a kernel have no attribute '{name}'"
    return f"{text}; use {twin}" if twin else text


_NO_OPERATOR = re.compile(r"unsupported operand type\(s\) for (\S+): '(\w+)' and '(\w+)'")


def _python_message(error: Exception) -> str:
    text = re.sub(r"(tilewright\.)?_tilewright_core\.", "", str(error))
    text = re.sub(r"\. Did you mean '\w+'\?$", "", text)  # Python 3.13's own guess at a keyword
    operator = _NO_OPERATOR.match(text)
    if operator and "Buffer" in operator.groups():
        name = operator.group(1).rstrip("=") or "="
        return f"'{name}' of a whole tile; loop over its elements with T.Parallel"
    if isinstance(error, AttributeError) and isinstance(error.obj, enum.EnumType):
        hint = hint_for(error.name, error.obj.__members__, f"{error.obj.__name__}.")
        text = f"{error.obj.__name__} has no '{error.name}'"
        return f"{text}; {hint}" if hint else text
    traced = (core.Buffer, core.Element, core.Expr, core.Var)
    if isinstance(error, AttributeError) and isinstance(error.obj, traced):
        return _python_attribute(error.name)
    if "context manager protocol" in text:
        return "'with' takes a call, as in 'with T.Kernel(blocks, threads=128) as bx'"
    text = re.sub(r"^(\w+)\.__init__\(\)", r"\1()", text)
    called = re.match(r"(\w+)\(\) ", text)
    if called and isinstance(error, TypeError):
        text = f"T.{text}" if vocabulary.has(called.group(1)) else text
        keyword = _NO_KEYWORD.match(text)
        if keyword:
            known = inspect.signature(vocabulary.get(keyword.group(1))).parameters
            hint = _keyword_hint(keyword.group(2), known)
            text = f"{text}; {hint}" if hint else text
    if isinstance(error, KeyError):
        text = f"key {text} not found"
    return text or type(error).__name__
