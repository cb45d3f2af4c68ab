"""Names that scripts import from TileLang and that Tilewright has no counterpart of.

An import must succeed where a script uses the name only in some of its modes; the use of it is an
error at the user's line that says what to do instead.
"""

from __future__ import annotations

from typing import Any

from tilewright.errors import LanguageError, reporting


class NotPart:
    """A name whose use is an error."""

    def __init__(self, name: str, reason: str) -> None:
        self._name, self._reason = name, reason

    @reporting
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise LanguageError(f"'{self._name}' is not part of Tilewright", hint=self._reason)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return NotPart(f"{self._name}.{name}", self._reason)

    def __repr__(self) -> str:
        return f"<{self._name}, not part of Tilewright>"
