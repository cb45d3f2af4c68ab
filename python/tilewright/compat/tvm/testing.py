"""Marks of tests under TVM's names."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any


def requires_package(*names: str) -> Any:
    """Skips a test under pytest where one of the packages is not installed; a plain call runs."""
    missing = [name for name in names if find_spec(name) is None]

    def mark(function: Any) -> Any:
        if not missing:
            return function
        import pytest

        return pytest.mark.skip(reason=f"needs {', '.join(missing)}")(function)

    return mark
