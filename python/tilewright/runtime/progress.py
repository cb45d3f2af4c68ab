"""The line that `tw run` shows while a launch takes longer than a few seconds."""

from __future__ import annotations

import sys
import time
from typing import Any, TextIO

#: Launches shorter than this say nothing.
PATIENCE = 2.0


class ProgressLine:
    """Follows one kernel's launches: in place on a terminal, a line every ten seconds elsewhere."""

    def __init__(self, kernel: Any, stream: TextIO | None = None) -> None:
        self._kernel = kernel
        self._stream = stream or sys.stderr
        self._started: float | None = None
        self._shown = 0.0

    def __call__(self, launch: int, done: int, blocks: int) -> None:
        """Hears from a launch that is running, some twenty times a second."""
        now = time.perf_counter()
        if self._started is None:
            self._started = now
        elapsed = now - self._started
        in_place = self._stream.isatty()
        if elapsed < PATIENCE or now - self._shown < (0.2 if in_place else 10.0):
            return
        self._shown = now
        text = (
            f"kernel '{self._kernel.name}', launch {launch}: {done} of {blocks} blocks "
            f"({100 * done // blocks}%), {elapsed:.0f} s"
        )
        if in_place:
            self._stream.write(f"\r{text}\x1b[K")
        else:
            self._stream.write(f"{text}\n")
        self._stream.flush()

    def finish(self) -> None:
        """The launches of a call are over: the line goes."""
        if self._shown and self._stream.isatty():
            self._stream.write("\r\x1b[K")
        self._started, self._shown = None, 0.0
