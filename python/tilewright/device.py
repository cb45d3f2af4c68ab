"""Where kernels run: compiled CPU code, the reference interpreter, or the virtual GPU.

`cpu` is compiled code, and what a kernel gets where nothing else is asked for; `interp` executes
the program's meaning and watches it; `vgpu:sm_80` and its siblings run the generated PTX, checked.
A real GPU (`cuda:0`) is not driven yet.
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
        return _choose(name)
    if device not in DEVICES:
        raise LanguageError(
            f"device '{device}' does not exist in this build", hint=f"use {', '.join(DEVICES)}"
        )
    return Placement(device, name, None)


def _choose(target: str) -> Placement:
    """The device for a target where nothing else was asked for."""
    if target in DEVICES and target != "cpu":
        return Placement(target, target, None)
    if target in ARCHS:
        reason = f"target '{target}': no such GPU is driven here, its virtual GPU runs the kernel"
        return Placement(f"vgpu:{target}", target, reason)
    if os.environ.get("TILEWRIGHT_CHECK", "0") not in ("", "0"):
        reason = "TILEWRIGHT_CHECK is set: the reference interpreter runs the kernel"
        return Placement("interp", target, reason)
    if target == "cuda":
        reason = "target 'cuda': no GPU is driven here, the CPU runs the kernel"
        return Placement("cpu", target, reason)
    return Placement("cpu", target, None)


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


def multiprocessors(arch: str | None = None) -> int:
    """The multiprocessors that device queries answer: those of the architecture's full device."""
    return {(8, 0): 108, (9, 0): 132}[capability(arch)]
