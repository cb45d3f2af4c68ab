"""What goes wrong, and how it is shown.

`LanguageError` is raised inside Tilewright by Python code, `core.TraceError` by C++. At each entry
point (`T.prim_func`, a jitted call, a kernel call) `reporting()`
turns them into one `TilewrightError` whose text is the whole report:

    attn.py:41:13: error: 'T.copy' from 'Q' to 'q': expected equal extents, got 64 x 8 and 32 x 8
       41 |             T.copy(Q[bx, 0:64, :], q)
          |             ^^^^^^^^^^^^^^^^^^^^^^^^^
    attn.py:18:9: note: 'q' is allocated here

Exceptions of the user's own helper functions pass through untouched.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from opcode import opmap
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from tilewright.support import environment

__tracebackhide__ = True  # pytest shows the user's frames

_PUBLIC = "tilewright.errors"  # the module by which users know these classes


class Location(NamedTuple):
    """A range of source text; columns count from 1, `end_column` is exclusive, 0 means unknown."""

    file: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0


class Note(NamedTuple):
    """A second place that explains an error."""

    location: Location | None
    text: str


class TilewrightError(ValueError):
    """The one exception users see. `str()` is the rendered report; the parts are attributes.

    It is a ValueError, as TileLang's errors about programs are: programs that expect one catch it.
    """

    __module__ = _PUBLIC

    def __init__(
        self,
        message: str,
        location: Location | None = None,
        notes: Sequence[Note] = (),
        kind: str = "error",
    ) -> None:
        self.message = message
        self.location = location
        self.notes = tuple(notes)
        self.kind = kind
        super().__init__(render(kind, message, location, self.notes))

    def _render_traceback_(self) -> list[str]:
        """IPython shows this instead of a traceback."""
        return str(self).splitlines()


class LanguageError(TilewrightError):
    """A mistake in the user's program, found by Python code.

    An entry point turns it into a plain report; outside of all entry points it is shown as it is.
    """

    __module__ = _PUBLIC

    def __init__(
        self,
        message: str,
        *,
        location: Location | None = None,
        notes: Sequence[Note] = (),
        hint: str | None = None,
    ) -> None:
        super().__init__(f"{message}; {hint}" if hint else message, location, notes)

    def __str__(self) -> str:
        location = self.location or next(iter(user_locations(self.__traceback__)), None)
        return render(self.kind, self.message, location, self.notes)


class UnknownNameError(LanguageError, AttributeError):
    """A name that `tilewright.language` does not have; an AttributeError so that hasattr works."""

    __module__ = _PUBLIC


class ReportedNameError(TilewrightError, AttributeError):
    """The report for an unknown name outside a kernel."""

    __module__ = _PUBLIC


class ReportedImportError(TilewrightError, ImportError):
    """The report for `from tilewright import NAME` without such a name."""

    __module__ = _PUBLIC


class ReportedModuleError(TilewrightError, ModuleNotFoundError):
    """The report for `import tilewright.NAME` that is a slip away from a module."""

    __module__ = _PUBLIC


def unknown_name(message: str) -> TilewrightError:
    """The report for a name that a module of ours does not have: an AttributeError, or in `from …
    import` an ImportError, which Python would make without our words."""
    frame = _users_frame()
    location = caller_location()
    if frame is not None and frame.f_code.co_code[frame.f_lasti] == _IMPORT_FROM:
        return ReportedImportError(message, location)
    return ReportedNameError(message, location)


# ---- Rendering ----


def shorten(file: str) -> str:
    """`file` relative to the working directory where that is shorter, as compilers print it."""
    if file.startswith("<"):
        return file
    try:
        relative = os.path.relpath(file)
    except ValueError:
        return file
    return file if relative.startswith("..") else relative


def render(kind: str, message: str, location: Location | None, notes: Sequence[Note] = ()) -> str:
    """The whole text of a report: headline, source excerpt with carets, notes."""
    lines = _render_one(kind, message, location, with_source=True)
    for note in notes:
        lines += _render_one("note", note.text, note.location, with_source=False)
    return "\n".join(lines)


def _render_one(kind: str, message: str, location: Location | None, with_source: bool) -> list[str]:
    if location is None:
        return [f"{kind}: {message}"]
    column = f":{location.column}" if location.column else ""
    lines = [f"{shorten(location.file)}:{location.line}{column}: {kind}: {message}"]
    return lines + excerpt(location) if with_source else lines


def excerpt(location: Location) -> list[str]:
    """The source line of `place` and a line of carets under its range."""
    import linecache

    text = linecache.getline(location.file, location.line).rstrip("\n")
    if not text.strip():
        return []
    # Columns of code objects and of `ast` count UTF-8 bytes; carets count characters.
    raw = text.encode()
    start = len(raw[: max(location.column - 1, 0)].decode(errors="replace"))
    if location.end_line > location.line:
        end = len(text)
    else:
        end = len(raw[: max(location.end_column - 1, 0)].decode(errors="replace"))
    margin = f"{location.line:5} | "
    lines = [margin + text]
    if location.column:
        pad = "".join("\t" if c == "\t" else " " for c in text[:start])
        lines.append(" " * 5 + " | " + pad + "^" * max(end - start, 1))
    return lines


def excerpt_text(location: Location) -> str:
    """The text of the range, as far as it stands in its first line."""
    import linecache

    raw = linecache.getline(location.file, location.line).rstrip("\n").encode()
    if not location.column:
        return raw.decode()
    end = (
        location.end_column - 1
        if location.end_line <= location.line and location.end_column
        else len(raw)
    )
    return raw[location.column - 1 : end].decode(errors="replace")


# ---- From exceptions to reports ----

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def is_ours(file: str) -> bool:
    """True for files of this package (their frames are never shown)."""
    return file.startswith(_PACKAGE)


def location_of_instruction(code: Any, instruction: int) -> Location:
    """The source range of an instruction of `code`."""
    positions = list(code.co_positions())
    line, end_line, column, end_column = positions[instruction // 2]
    if line is None:
        return Location(code.co_filename, code.co_firstlineno)
    if column is None or end_column is None:
        return Location(code.co_filename, line)
    return Location(code.co_filename, line, column + 1, end_line or line, end_column + 1)


def user_locations(traceback: Any) -> list[Location]:
    """Where the user's frames of a traceback stand, innermost first."""
    locations = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not is_ours(code.co_filename) and not code.co_filename.startswith("<frozen"):
            locations.append(location_of_instruction(code, traceback.tb_lasti))
        traceback = traceback.tb_next
    return locations[::-1]


def _users_frame() -> Any:
    """The innermost frame outside this package and Python's import system."""
    frame = sys._getframe(1)
    while frame is not None and (
        is_ours(frame.f_code.co_filename) or frame.f_code.co_filename.startswith("<frozen ")
    ):
        frame = frame.f_back
    return frame


def caller_location() -> Location | None:
    """Where the innermost frame outside this package and Python's import system stands now."""
    frame = _users_frame()
    return location_of_instruction(frame.f_code, frame.f_lasti) if frame is not None else None


def widen(location: Location) -> Location:
    """`place` with its end, found in the source: C++ only remembers where a statement starts."""
    if location.end_column or not location.column:
        return location
    from tilewright.support.source import statement_range

    return statement_range(location) or location


def _core_location(location: Any) -> Location | None:
    if location is None:
        return None
    file, line, column = location
    return widen(Location(file, line, column))


def debugging() -> bool:
    """True if TILEWRIGHT_DEBUG requests our own tracebacks."""
    return environment.is_on("TILEWRIGHT_DEBUG")


def convert(
    error: Exception, keep: int | None = None, advice: Sequence[Note] = ()
) -> TilewrightError:
    """The report for an error of the user's program.

    `keep` is the number of the user's frames that belong to the kernel: outer ones (the script that
    called the factory) say nothing about the mistake and are left out. `advice` adds notes.
    """
    locations = user_locations(error.__traceback__)
    callers = locations[1:keep] if keep is not None else []
    if isinstance(error, LanguageError):
        location, notes = error.location, list(error.notes)
    else:
        location = _core_location(getattr(error, "location", None))
        notes = [
            Note(_core_location((file, line, column)), text)
            for file, line, column, text in getattr(error, "notes", [])
        ]
    innermost = locations[0] if locations else caller_location()
    if location is None or (innermost and _same_statement(location, innermost)):
        location = innermost or location
    notes += [*advice, *called_from(callers)]
    message = getattr(error, "message", str(error))
    kind = "internal error" if getattr(error, "reason", None) == "internal" else "error"
    return TilewrightError(message, location, notes, kind)


def called_from(callers: Sequence[Location]) -> list[Note]:
    """A note for each call on the way, once each: a recursion has many at one place."""
    return [Note(caller, "called from here") for caller in dict.fromkeys(callers)]


def _same_statement(location: Location, inner: Location) -> bool:
    """True if `inner` is a more precise range of the statement that starts at `place`."""
    is_part = location.end_column and inner.column <= location.column
    is_part = (
        is_part and location.end_line == inner.end_line and location.end_column < inner.end_column
    )
    return location.file == inner.file and location.line == inner.line and not is_part


_IMPORT_FROM = opmap["IMPORT_FROM"]
_Function = TypeVar("_Function", bound=Callable[..., Any])


def reporting(function: _Function) -> _Function:
    """Makes `function` an entry point: errors of the user's program leave it as reports."""

    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        try:
            return function(*args, **kwargs)
        except Exception as error:
            report = as_report(error)
            if report is None or report is error:
                raise
            if debugging():
                raise report from error
        raise report.with_traceback(None) from None

    return wrapper  # type: ignore[return-value]


def as_report(error: Exception) -> TilewrightError | None:
    """The report for `error`, or None if it is not ours to explain."""
    if isinstance(error, LanguageError):
        return convert(error)
    if isinstance(error, TilewrightError):
        return error
    if "tilewright._core" not in sys.modules:
        return None  # (of an installed wheel, the extension module itself has another name)
    from tilewright._core import core

    if isinstance(error, core.TraceError):
        return convert(error)
    if isinstance(error, core.InternalError):
        return internal(error)
    return None


def internal(error: BaseException) -> TilewrightError:
    """The report for a bug of ours."""
    locations = user_locations(error.__traceback__)
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    message = f"{text}; this is our bug: run again with TILEWRIGHT_DEBUG=1 and report it"
    return TilewrightError(message, locations[0] if locations else None, kind="internal error")


# ---- Plain `python script.py` ----


def install_excepthook() -> None:
    """Uncaught reports are printed as they are, exceptions of the user's own code without our
    frames; everything else as before."""
    previous = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, traceback: Any) -> None:
        report = as_report(error) if isinstance(error, Exception) else None
        if report is not None and not debugging():
            from tilewright.support.colour import paint

            print(paint(str(report), sys.stderr), file=sys.stderr)
        else:
            if not debugging():
                traceback = without_our_frames(traceback)
            previous(kind, error.with_traceback(traceback), traceback)

    sys.excepthook = hook


def without_our_frames(traceback: Any) -> Any:
    """The traceback of an exception that the user's code raised, with frames of that code only;
    unchanged if the exception is ours."""
    frames = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    if not frames or is_ours(frames[-1].tb_frame.f_code.co_filename):
        return frames[0] if frames else None
    shown = None
    for entry in reversed(frames):
        if not is_ours(entry.tb_frame.f_code.co_filename):
            shown = TracebackType(shown, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return shown
