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
from typing import Any, NamedTuple, TypeVar

from tilewright.support import environment

__tracebackhide__ = True  # pytest shows the user's frames

_PUBLIC = "tilewright.errors"  # the module by which users know these classes


class Place(NamedTuple):
    """A range of source text; columns count from 1, `end_column` is exclusive, 0 means unknown."""

    file: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0


class Note(NamedTuple):
    """A second place that explains an error."""

    place: Place | None
    text: str


class TilewrightError(Exception):
    """The one exception users see. `str()` is the rendered report; the parts are attributes."""

    __module__ = _PUBLIC

    def __init__(
        self,
        message: str,
        place: Place | None = None,
        notes: Sequence[Note] = (),
        kind: str = "error",
    ) -> None:
        self.message = message
        self.place = place
        self.notes = tuple(notes)
        self.kind = kind
        super().__init__(render(kind, message, place, self.notes))

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
        place: Place | None = None,
        notes: Sequence[Note] = (),
        hint: str | None = None,
    ) -> None:
        super().__init__(f"{message}; {hint}" if hint else message, place, notes)

    def __str__(self) -> str:
        place = self.place or next(iter(user_places(self.__traceback__)), None)
        return render(self.kind, self.message, place, self.notes)


class UnknownNameError(LanguageError, AttributeError):
    """A name that `tilewright.language` does not have; an AttributeError so that hasattr works."""

    __module__ = _PUBLIC


class ReportedNameError(TilewrightError, AttributeError):
    """The report for an unknown name outside a kernel."""

    __module__ = _PUBLIC


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


def render(kind: str, message: str, place: Place | None, notes: Sequence[Note] = ()) -> str:
    """The whole text of a report: headline, source excerpt with carets, notes."""
    lines = _render_one(kind, message, place, with_source=True)
    for note in notes:
        lines += _render_one("note", note.text, note.place, with_source=False)
    return "\n".join(lines)


def _render_one(kind: str, message: str, place: Place | None, with_source: bool) -> list[str]:
    if place is None:
        return [f"{kind}: {message}"]
    column = f":{place.column}" if place.column else ""
    lines = [f"{shorten(place.file)}:{place.line}{column}: {kind}: {message}"]
    return lines + excerpt(place) if with_source else lines


def excerpt(place: Place) -> list[str]:
    """The source line of `place` and a line of carets under its range."""
    import linecache

    text = linecache.getline(place.file, place.line).rstrip("\n")
    if not text.strip():
        return []
    # Columns of code objects and of `ast` count UTF-8 bytes; carets count characters.
    raw = text.encode()
    start = len(raw[: max(place.column - 1, 0)].decode(errors="replace"))
    if place.end_line > place.line:
        end = len(text)
    else:
        end = len(raw[: max(place.end_column - 1, 0)].decode(errors="replace"))
    margin = f"{place.line:5} | "
    lines = [margin + text]
    if place.column:
        pad = "".join("\t" if c == "\t" else " " for c in text[:start])
        lines.append(" " * 5 + " | " + pad + "^" * max(end - start, 1))
    return lines


def excerpt_text(place: Place) -> str:
    """The text of the range, as far as it stands in its first line."""
    import linecache

    raw = linecache.getline(place.file, place.line).rstrip("\n").encode()
    if not place.column:
        return raw.decode()
    end = place.end_column - 1 if place.end_line <= place.line and place.end_column else len(raw)
    return raw[place.column - 1 : end].decode(errors="replace")


# ---- From exceptions to reports ----

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def is_ours(file: str) -> bool:
    """True for files of this package (their frames are never shown)."""
    return file.startswith(_PACKAGE)


def place_of_instruction(code: Any, instruction: int) -> Place:
    """The source range of an instruction of `code`."""
    positions = list(code.co_positions())
    line, end_line, column, end_column = positions[instruction // 2]
    if line is None:
        return Place(code.co_filename, code.co_firstlineno)
    if column is None or end_column is None:
        return Place(code.co_filename, line)
    return Place(code.co_filename, line, column + 1, end_line or line, end_column + 1)


def user_places(traceback: Any) -> list[Place]:
    """Where the user's frames of a traceback stand, innermost first."""
    places = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not is_ours(code.co_filename) and not code.co_filename.startswith("<frozen"):
            places.append(place_of_instruction(code, traceback.tb_lasti))
        traceback = traceback.tb_next
    return places[::-1]


def caller_place() -> Place | None:
    """Where the innermost frame outside this package and Python's import system stands now."""
    frame = sys._getframe(1)
    while frame is not None and (
        is_ours(frame.f_code.co_filename) or frame.f_code.co_filename.startswith("<frozen ")
    ):
        frame = frame.f_back
    return place_of_instruction(frame.f_code, frame.f_lasti) if frame is not None else None


def widen(place: Place) -> Place:
    """`place` with its end, found in the source: C++ only remembers where a statement starts."""
    if place.end_column or not place.column:
        return place
    from tilewright.support.source import statement_range

    return statement_range(place) or place


def _core_place(location: Any) -> Place | None:
    if location is None:
        return None
    file, line, column = location
    return widen(Place(file, line, column))


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
    places = user_places(error.__traceback__)
    callers = places[1:keep] if keep is not None else []
    if isinstance(error, LanguageError):
        place, notes = error.place, list(error.notes)
    else:
        place = _core_place(getattr(error, "location", None))
        notes = [
            Note(_core_place((file, line, column)), text)
            for file, line, column, text in getattr(error, "notes", [])
        ]
    innermost = places[0] if places else caller_place()
    if place is None or (innermost and _same_statement(place, innermost)):
        place = innermost or place
    notes += [*advice, *called_from(callers)]
    message = getattr(error, "message", str(error))
    kind = "internal error" if getattr(error, "reason", None) == "internal" else "error"
    return TilewrightError(message, place, notes, kind)


def called_from(callers: Sequence[Place]) -> list[Note]:
    """A note for each call on the way, once each: a recursion has many at one place."""
    return [Note(caller, "called from here") for caller in dict.fromkeys(callers)]


def _same_statement(place: Place, inner: Place) -> bool:
    """True if `inner` is a more precise range of the statement that starts at `place`."""
    is_part = place.end_column and inner.column <= place.column
    is_part = is_part and place.end_line == inner.end_line and place.end_column < inner.end_column
    return place.file == inner.file and place.line == inner.line and not is_part


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
    if "_tilewright_core" not in sys.modules:
        return None
    from tilewright._core import core

    if isinstance(error, core.TraceError):
        return convert(error)
    if isinstance(error, core.InternalError):
        return internal(error)
    return None


def internal(error: BaseException) -> TilewrightError:
    """The report for a bug of ours."""
    places = user_places(error.__traceback__)
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    message = f"{text}; this is our bug: run again with TILEWRIGHT_DEBUG=1 and report it"
    return TilewrightError(message, places[0] if places else None, kind="internal error")


# ---- Plain `python script.py` ----


def install_excepthook() -> None:
    """Uncaught reports are printed as they are; everything else as before."""
    previous = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, traceback: Any) -> None:
        report = as_report(error) if isinstance(error, Exception) else None
        if report is not None and not debugging():
            from tilewright.support.colour import paint

            print(paint(str(report), sys.stderr), file=sys.stderr)
        else:
            previous(kind, error, traceback)

    sys.excepthook = hook
