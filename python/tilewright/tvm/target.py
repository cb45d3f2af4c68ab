"""Targets by TVM's name."""

from __future__ import annotations


class Target(str):
    """The name of a target; `tilelang.compile` takes it as it takes the text."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """The first word: "cuda", "llvm", …"""
        return self.split()[0]
