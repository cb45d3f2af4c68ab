"""Targets by TVM's name."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any, NamedTuple

from tilewright.compat import refuse_rest


class TargetKind(NamedTuple):
    """The kind of a target: `target.kind.name` is "cuda", "llvm", …"""

    name: str

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return self.name == (other.name if isinstance(other, TargetKind) else other)

    def __hash__(self) -> int:
        return hash(self.name)


class _Open(threading.local):
    """The targets of the `with` statements around, in this thread."""

    def __init__(self) -> None:
        self.targets: list[Target] = []


_open = _Open()


class Target(str):
    """A target; `tilelang.compile` takes it as it takes the text.

    `with Target("cuda"):` makes it the target of what is compiled inside without one.
    """

    __slots__ = ()

    def __new__(cls, target: Any = "cuda", host: Any = None) -> Target:
        if isinstance(target, Mapping):
            options = [f"-{key}={value}" for key, value in target.items() if key != "kind"]
            return super().__new__(cls, " ".join([str(target.get("kind", "cuda")), *options]))
        text = str(target)
        if text.startswith("{"):
            return cls(json.loads(text))
        return super().__new__(cls, text)

    @property
    def kind(self) -> TargetKind:
        """The first word: "cuda", "llvm", …"""
        return TargetKind(self.split()[0])

    @property
    def attrs(self) -> dict[str, str]:
        """The options: `-arch=sm_90` is {"arch": "sm_90"}."""
        options = [word[1:].partition("=") for word in self.split()[1:] if word.startswith("-")]
        return {name: value for name, _, value in options}

    @property
    def arch(self) -> str:
        """The architecture that the target names, or the default one."""
        from tilewright.runtime.device import default_arch

        return self.attrs.get("arch") or default_arch()

    @property
    def keys(self) -> tuple[str, ...]:
        """What TVM's strategies look up: the kind, and "gpu" for CUDA's."""
        return (self.kind.name, "gpu") if self.kind == "cuda" else (self.kind.name, "cpu")

    @property
    def thread_warp_size(self) -> int:
        """Threads of a warp."""
        return 32

    @staticmethod
    def current(allow_none: bool = True) -> Target | None:
        """The target of the innermost `with Target(...)`, if any."""
        if _open.targets:
            return _open.targets[-1]
        if allow_none:
            return None
        raise ValueError("no target is current: write 'with Target(...)'")

    def __enter__(self) -> Target:
        _open.targets.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _open.targets.pop()


__all__ = ["Target", "TargetKind"]

refuse_rest(__name__)
