"""Exceptions of Python inside our frames that are mistakes of the user.

`x = []; x.pop()` and `int("x")` run in our frames, since the front end performs what a kernel's
text says; `T.acos("x")` fails wherever the language first uses the text as a number. All of these
are told at the user's line, in Python's words. What is left is a bug of ours.
"""

from __future__ import annotations

import inspect
import math
import re
from typing import Any

from tilewright.frontend import builtins, hooks, loops
from tilewright.frontend.tile_loops import fits_int64
from tilewright.frontend.trace import KERNEL_SCALARS, Buffer, describe
from tilewright.support import errors
from tilewright.support.errors import excerpt_text, is_ours, user_locations

#: What Python raises for operands that an operation does not take.
_ABOUT_OPERANDS = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)

#: Files that perform the user's operations: their own statements call nothing else that fails.
_PERFORMING = frozenset(module.__file__ for module in (builtins, hooks, loops, errors))

#: What Python says of a call with too few, too many or unknown arguments.
_COUNTED = re.compile(r"\(\) (missing|takes|got an unexpected keyword)")

_CALLED = re.compile(r"[A-Za-z_][\w.]*(?=\()")


def misfit(error: Exception) -> str | None:
    """What the user's operation or call did wrong, or None if it is not known to be at fault."""
    if not isinstance(error, _ABOUT_OPERANDS) and "bad_cast" not in str(error):
        return None
    called, innermost = _frames_of(error)
    if innermost is not None and innermost.f_code.co_filename in _PERFORMING:
        return _of_operation(error)
    return _of_call(error, called) if called is not None else None


def _frames_of(error: Exception) -> tuple[Any, Any]:
    """Our frame that the user's code called, and the innermost one."""
    called = innermost = None
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if not is_ours(frame.f_code.co_filename):
            called = None
        elif called is None or called.f_code.co_filename == errors.__file__:
            called = frame  # (an entry point only wraps what was called)
        innermost = frame
        traceback = traceback.tb_next
    return called, innermost


def _of_operation(error: Exception) -> str:
    """Python's own words, without the names of our classes."""
    text = str(error)
    if isinstance(error, KeyError):
        return f"key {text} not found"
    if "only integer scalar arrays" in text:
        return "a numpy array does not stand for one number; name one of its elements"
    text = re.sub(r"^_?(\w+?)(Meta)?\.__(init|call)__\(\)", r"T.\1()", text)
    return text or type(error).__name__


def _of_call(error: Exception, frame: Any) -> str | None:
    """A message for a call with arguments that it cannot take, or with the wrong number of them."""
    location = next(iter(user_locations(error.__traceback__)), None)
    name = _CALLED.match(excerpt_text(location).strip()) if location else None
    if name is None:
        return None
    if _COUNTED.search(str(error)):
        return f"'{name.group()}': {error}"
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
    names = [name for name in code.co_varnames[:count] if name not in ("self", "cls")]
    given = [frame.f_locals[name] for name in names if name in frame.f_locals]
    parts = [*given, *(part for value in given if type(value) is tuple for part in value)]
    is_refused = "bad_cast" in str(error) or "incompatible function" in str(error)
    too_large = [part for part in parts if is_refused and not fits_int64(part)]
    if too_large:
        return f"'{name.group()}': the number {too_large[0]} does not fit int64"
    odd = [part for part in parts if _is_odd(part, str(error))]
    if not odd:
        return None
    kinds = " and ".join(dict.fromkeys(describe(part) for part in odd))
    text = "" if is_refused else f": {error}"
    return f"'{name.group()}' cannot take {kinds}{text}"


def _is_odd(value: Any, text: str) -> bool:
    """Whether it may be the value that the exception is about: it names its class, or the value is
    neither a tile, a kernel value nor an everyday number."""
    if type(value) is float and not math.isfinite(value):
        return True
    named = re.search(rf"\b{type(value).__name__}\b", text) is not None
    return named or type(value) not in (bool, int, float, tuple, Buffer, *KERNEL_SCALARS)
