"""Says what a program is waiting for when that takes longer than two seconds.

    with waiting("compile 'main'"):
        ...

On a terminal the line stands in place on the standard error stream and goes when the wait is over.
Elsewhere nothing is said, except under `tw`, which prints a line every ten seconds: the output of a
user's own script is the script's.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

#: Waits shorter than this say nothing.
PATIENCE = 2.0

#: Seconds between lines where the stream is no terminal.
PAUSE = 10.0

#: Whether `tw` runs the program: then waits are also told where there is no terminal.
is_told = False

#: Whether nothing is told at all (`tw -q`).
is_quiet = False

_depth = threading.local()


class _Ticker:
    """A thread that writes the line; started only after `PATIENCE`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._started = time.perf_counter()
        self._over = threading.Event()
        self._shown = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        in_place = sys.stderr.isatty()
        pause = PATIENCE
        while not self._over.wait(pause):
            seconds = time.perf_counter() - self._started
            text = f"{self._text}, {seconds:.0f} s"
            sys.stderr.write(f"\r{text}\x1b[K" if in_place else f"{text}\n")
            sys.stderr.flush()
            self._shown = in_place
            pause = 0.2 if in_place else PAUSE

    def finish(self) -> None:
        """The wait is over: the line goes."""
        self._over.set()
        self._thread.join()
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def is_shown() -> bool:
    """Whether the line would be visible."""
    if is_quiet or sys.stderr is None:
        return False
    return is_told or sys.stderr.isatty()


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Tells of the block if it takes long. Of nested waits only the outermost is told."""
    if getattr(_depth, "value", 0) or not is_shown():
        yield
        return
    _depth.value = 1
    ticker = _Ticker(text)
    try:
        yield
    finally:
        _depth.value = 0
        ticker.finish()
