"""The one place where Python code reads TILEWRIGHT_* variables.

Its twin for C++ code is include/tilewright/Support/Environment.h. A variable that is empty counts
as not set; one whose value means nothing is an error that names it.
"""

from __future__ import annotations

import os
from pathlib import Path

_OFF, _ON = ("0", "off", "no", "false"), ("1", "on", "yes", "true")

# Read here, by C++ code, and by scripts, tests and benchmarks.
KNOWN = (
    "TILEWRIGHT_ARCH TILEWRIGHT_CACHE TILEWRIGHT_CACHE_DIR TILEWRIGHT_CACHE_MB TILEWRIGHT_CHECK"
    " TILEWRIGHT_CHECK_PLANS TILEWRIGHT_CPU TILEWRIGHT_DEBUG TILEWRIGHT_DETERMINISTIC"
    " TILEWRIGHT_DEVICE TILEWRIGHT_LIBCUDA TILEWRIGHT_PTXAS TILEWRIGHT_THREADS"
    " TILEWRIGHT_VGPU_MODE"
).split()


def text(name: str) -> str | None:
    """The value as it stands there; None if it is not set."""
    return os.environ.get(name) or None


def switch(name: str) -> bool | None:
    """The value of a variable that is on or off; None if it is not set."""
    value = text(name)
    if value is None or value.lower() in _ON:
        return None if value is None else True
    if value.lower() in _OFF:
        return False
    from tilewright.support.errors import LanguageError

    raise LanguageError(f"{name} is '{value}'; it can be 1 or 0")


def is_on(name: str) -> bool:
    """As `switch`, where an error is being reported and no other may be raised."""
    return (text(name) or "0").lower() not in _OFF


def executable(name: str) -> Path | None:
    """The program that a variable names, perhaps none; None if it is not set."""
    value = text(name)
    if value is None:
        return None
    path = Path(value)
    if value == "none" or (path.is_file() and os.access(path, os.X_OK)):
        return path
    from tilewright.support.errors import LanguageError

    raise LanguageError(f"{name} is '{value}', which is not a program that can be run")


def warn_of_misspelt_names() -> None:
    """Warns of a variable whose name is nearly one of ours: it would have no effect."""
    for name in os.environ:
        if name.startswith("TILEWRIGHT_") and name not in KNOWN:
            import difflib
            import warnings

            near = difflib.get_close_matches(name, KNOWN, n=1, cutoff=0.9)
            if near:
                message = f"the variable {name} has no effect; did you mean {near[0]}?"
                warnings.warn(message, stacklevel=3)
