"""`tilelang.profiler.bench`: timing functions."""

from __future__ import annotations

import contextlib
import os
from typing import Any

from tilewright.runtime.profiler import do_bench


class suppress_stdout_stderr:  # noqa: N801 - TileLang's name
    """`with suppress_stdout_stderr():` sends what Python prints nowhere."""

    def __enter__(self) -> suppress_stdout_stderr:
        self._stack = contextlib.ExitStack()
        sink = self._stack.enter_context(open(os.devnull, "w"))
        self._stack.enter_context(contextlib.redirect_stdout(sink))
        self._stack.enter_context(contextlib.redirect_stderr(sink))
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.close()


__all__ = ["do_bench", "suppress_stdout_stderr"]
