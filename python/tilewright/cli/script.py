"""Executes a script for `tw run`, `tw compile` and `tw check`, and hears of its kernels."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from types import TracebackType
from typing import Any

from tilewright.compat import imports
from tilewright.support.colour import paint
from tilewright.support.errors import TilewrightError, as_report, debugging, is_ours

#: The `__name__` of a script that is loaded without its main part.
LOADED = "__tilewright__"


def say(text: str) -> None:
    """A report on the standard error stream, with colours on a terminal."""
    print(paint(text, sys.stderr), file=sys.stderr)


def find_file(file: str) -> bool:
    """Whether the script exists; says so if not."""
    if os.path.isfile(file):
        return True
    say(f"tw: error: no file '{file}'")
    return False


@contextmanager
def listening(listener: Any) -> Iterator[None]:
    """The listener hears of kernels (kernel.listeners) in this block."""
    from tilewright.runtime import kernel

    kernel.listeners.append(listener)
    try:
        yield
    finally:
        kernel.listeners.remove(listener)


@contextmanager
def compiling_only(first_calls: dict[int, list[Any]] | None = None) -> Iterator[None]:
    """Kernels that are called in this block are not run. `first_calls` gets the arguments of the
    first call of each, by the id of the kernel."""
    from tilewright.runtime import kernel

    kernel.skipped_calls = {} if first_calls is None else first_calls
    try:
        yield
    finally:
        kernel.skipped_calls = None


@contextmanager
def keeping_calls(first_calls: dict[int, list[Any]] | None) -> Iterator[None]:
    """`first_calls` gets copies of the arguments of the first call of each kernel in this block."""
    from tilewright.runtime import kernel

    kernel.first_calls = first_calls
    try:
        yield
    finally:
        kernel.first_calls = None


def execute(
    file: str, script_arguments: list[str], name: str, *, is_module: bool = False
) -> tuple[int, dict[str, Any]]:
    """Runs the script, or the module of that name, with this `__name__`: its exit status and its
    names. Its exceptions pass."""
    imports.install()
    saved = sys.argv, sys.path[0]
    sys.argv = [file, *script_arguments]
    sys.path[0] = os.getcwd() if is_module else os.path.dirname(os.path.abspath(file))
    try:
        if is_module:
            return 0, runpy.run_module(file, run_name=name, alter_sys=True)
        return 0, runpy.run_path(file, run_name=name)
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0, {}
        print(stop.code, file=sys.stderr)
        return 1, {}
    finally:
        sys.argv, sys.path[0] = saved


def load(options: Any, script_arguments: list[str], first_calls: Any = None) -> list[Any]:
    """The kernels of a script that is loaded, not run: those that it compiles, those of `--call`,
    and top-level functions that need no arguments. What it prints goes to standard error."""
    kernels: list[Any] = []

    def listen(event: str, kernel: Any) -> None:
        if event == "compiled":
            kernels.append(kernel)

    with listening(listen), compiling_only(first_calls), redirect_stdout(sys.stderr):
        name = "__main__" if options.main else LOADED
        names: dict[str, Any] = {}
        try:
            _, names = execute(options.file, script_arguments, name)
        except TilewrightError:
            raise
        except Exception as error:
            if not kernels:
                raise
            # Its kernels were not run: what it computes from their results may well fail.
            where = _last_line(error, options.file)
            say(f"tw: note: the script ends at {where}: {type(error).__name__}: {error}")
        for call in options.call:
            _evaluate(call, names)
        if not kernels:
            _compile_what_needs_nothing(names)
    if not kernels:
        raise TilewrightError(_no_kernel(names, options))
    return kernels


def _last_line(error: Exception, file: str) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
             if frame.filename == file]  # fmt: skip
    return f"{file}:{lines[-1]}" if lines else file


def _evaluate(call: str, names: dict[str, Any]) -> None:
    from tilewright.frontend.functions import PrimFunc
    from tilewright.runtime.jitting import JITFunction
    from tilewright.runtime.jitting import compile as compile_function

    try:
        made = eval(call, dict(names))
    except TilewrightError:
        raise
    except Exception as error:
        text = f"--call '{call}': {type(error).__name__}: {error}"
        raise TilewrightError(text) from None
    if isinstance(made, PrimFunc):
        compile_function(made)
    elif isinstance(made, JITFunction):
        raise TilewrightError(f"--call '{call}' is a function; call it: '{call}(…)'")


def _compile_what_needs_nothing(names: dict[str, Any]) -> None:
    """Prim_funcs, and jitted functions all of whose parameters have defaults."""
    from tilewright.frontend.functions import PrimFunc
    from tilewright.runtime.jitting import JITFunction
    from tilewright.runtime.jitting import compile as compile_function

    for value in names.values():
        if isinstance(value, PrimFunc):
            compile_function(value)
        elif isinstance(value, JITFunction):
            parameters = value.signature.parameters.values()
            if value.mode == "lazy" and all(p.default is not p.empty for p in parameters):
                value.compile()


def _no_kernel(names: dict[str, Any], options: Any) -> str:
    from tilewright.runtime.jitting import JITFunction

    text = f"'{options.file}' compiles no kernel"
    if not options.main:
        text += " outside its '__main__' part"
    for name, value in names.items():
        if isinstance(value, JITFunction):
            wanted = ", ".join(value.signature.parameters)
            return f"{text}; name one with --call '{name}({wanted})', or add --main"
    return text if options.main else f"{text}; add --main to run that as well"


def report_failure(error: Exception) -> None:
    """Prints what went wrong: a report as it is, an exception of the script with its traceback."""
    report = as_report(error)
    if report is not None and not debugging():
        say(str(report))
        return
    if debugging():
        traceback.print_exception(error)
        return
    traceback.print_exception(type(error), error, _users_frames(error.__traceback__))


def _users_frames(frames: TracebackType | None) -> TracebackType | None:
    """Without the frames of this runner."""
    while frames is not None and (
        is_ours(frames.tb_frame.f_code.co_filename)
        or frames.tb_frame.f_code.co_filename == "<frozen runpy>"
    ):
        frames = frames.tb_next
    return frames
