"""Names that programs import from TileLang and that Tilewright has no counterpart of.

An import must succeed where a program uses the name only in some of its modes; the use of it is an
error at the user's line that says what to do instead.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Union

from tilewright.support.errors import LanguageError, reporting


class NotPart:
    """A name whose use is an error. It may stand in annotations, in `isinstance` (nothing is one)
    and among the bases of a class, which then cannot be made an object of."""

    def __init__(self, name: str, reason: str) -> None:
        self._name, self._reason = name, reason

    @reporting
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._refuse()

    def _refuse(self) -> None:
        raise LanguageError(f"'{self._name}' is not part of Tilewright", hint=self._reason)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return NotPart(f"{self._name}.{name}", self._reason)

    def __getitem__(self, item: Any) -> NotPart:
        return self

    def __or__(self, other: Any) -> Any:
        return Union[object, other]  # noqa: UP007 - an annotation; nothing reads it

    __ror__ = __or__

    def __instancecheck__(self, value: Any) -> bool:
        return False

    def __subclasscheck__(self, kind: Any) -> bool:
        return False

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        base = self

        class Refused:
            """A class of the user's that derives from what is not part of Tilewright."""

            def __new__(cls, *args: Any, **kwargs: Any) -> Any:
                return base(*args, **kwargs)

        return (Refused,)

    def __repr__(self) -> str:
        return f"<{self._name}, not part of Tilewright>"


def refuse_names(module: str, reason: str) -> Callable[[str], Any]:
    """The rest of a module's names, for its `__getattr__`: each can be imported, none used."""

    def find(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        return NotPart(f"{module}.{name}", reason)

    return find


def refused_module(name: str, reason: str) -> ModuleType:
    """A module that can be imported, all of it: what it gives is refused where it is used."""
    module = ModuleType(name, f"{name}: {reason}")
    module.__path__ = []  # its submodules are found in the same way
    module.__getattr__ = refuse_names(name, reason)  # type: ignore[method-assign]
    return module
