"""Where kernels run: the reference interpreter, compiled CPU code, or the virtual GPU.

`interp` executes the program's meaning and watches it; `cpu` is compiled code; `vgpu:sm_80` and its
siblings run the generated PTX, checked. A real GPU (`cuda:0`) is not driven yet.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from tilewright.errors import LanguageError

ARCHS = ("sm_80", "sm_90", "sm_90a")
DEVICES = ("interp", "cpu", *(f"vgpu:{arch}" for arch in ARCHS))
_TARGETS = ("auto", "cpu", "cuda", "llvm", "c", *ARCHS)
_CAPABILITY = {"sm_80": (8, 0), "sm_90": (9, 0), "sm_90a": (9, 0)}


class Placement(NamedTuple):
    """The decision for one kernel: the device, and why if it is not what was asked for."""

    device: str
    target: str
    reason: str | None

    @property
    def arch(self) -> str:
        """The architecture that PTX is generated for."""
        if self.device.startswith("vgpu:"):
            return self.device.removeprefix("vgpu:")
        return self.target if self.target in ARCHS else default_arch()


def place(target: Any = "auto", device: str | None = None) -> Placement:
    """Decides where a kernel compiled for `target` runs; `device` and the environment win."""
    name = target_name(target)
    device = device or os.environ.get("TILEWRIGHT_DEVICE") or None
    if device is None:
        if name == "interp":
            return Placement("interp", name, None)
        return Placement(
            "interp",
            name,
            f"target '{name}': this build runs kernels on the reference interpreter unless "
            "TILEWRIGHT_DEVICE or device= names cpu or vgpu:sm_80",
        )
    if device not in DEVICES:
        raise LanguageError(
            f"device '{device}' does not exist in this build", hint=f"use {', '.join(DEVICES)}"
        )
    return Placement(device, name, None)


def target_name(target: Any) -> str:
    """The short name of a target in any of the accepted forms."""
    if target is None:
        return "auto"
    if isinstance(target, Mapping):
        return target_name(target.get("arch") or target.get("kind"))
    text = str(target).strip()
    kind, *options = text.split() or [""]
    for option in options:
        if option.startswith("-arch="):
            return target_name(option.removeprefix("-arch="))
    if kind not in _TARGETS and kind not in DEVICES:
        raise LanguageError(
            f"unknown target '{text}'", hint=f"use one of {', '.join((*_TARGETS, *DEVICES))}"
        )
    return kind


def default_arch() -> str:
    """The architecture where none is named."""
    arch = os.environ.get("TILEWRIGHT_ARCH") or "sm_80"
    if arch not in _CAPABILITY:
        raise LanguageError(f"unknown architecture '{arch}'", hint=f"use {', '.join(_CAPABILITY)}")
    return arch


def capability(arch: str | None = None) -> tuple[int, int]:
    """The compute capability that device queries answer."""
    arch = arch or default_arch()
    if arch not in _CAPABILITY:
        raise LanguageError(f"unknown architecture '{arch}'", hint=f"use {', '.join(_CAPABILITY)}")
    return _CAPABILITY[arch]
