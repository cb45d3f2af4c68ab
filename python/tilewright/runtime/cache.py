"""Whether compiled code is kept on disk; TILEWRIGHT_CACHE says it from outside."""

from __future__ import annotations

from tilewright._core import core


def disable_cache() -> None:
    """Stops keeping compiled code on disk, and using what is kept there."""
    core.set_cache_enabled(False)


def enable_cache() -> None:
    """Undoes `disable_cache`."""
    core.set_cache_enabled(True)


def is_cache_enabled() -> bool:
    """Whether compiled code is kept on disk."""
    return bool(core.cache_status()["directory"])
