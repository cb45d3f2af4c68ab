"""Where kernels run: a GPU, compiled CPU code, the reference interpreter, or the virtual GPU.

`cuda:0` is the first GPU of the machine, and what a kernel gets where there is one and the caller
names no other; `cpu` is compiled code, and the same where there is none; `interp` executes the
program's meaning and watches it; `vgpu:sm_80` and its siblings run the generated PTX, checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from tilewright.support import environment
from tilewright.support.errors import LanguageError

# The architectures that code is generated for, with the compute capability of their devices. The
# facts that code depends on are in lib/Target/Arch.cpp, figures of devices in report/machines.py.
_CAPABILITIES: dict[str, tuple[int, int]] = {
    "sm_80": (8, 0),
    "sm_86": (8, 6),
    "sm_87": (8, 7),
    "sm_89": (8, 9),
    "sm_90": (9, 0),
    "sm_90a": (9, 0),
    "sm_100": (10, 0),
    "sm_103": (10, 3),
    "sm_110": (11, 0),
    "sm_120": (12, 0),
    "sm_121": (12, 1),
}
ARCHS = tuple(_CAPABILITIES)
# One of each kind of code: what is compared where none is named.
TYPICAL_ARCHS = ("sm_80", "sm_90", "sm_90a")
DEVICES = ("interp", "cpu", *(f"vgpu:{arch}" for arch in ARCHS))
_TARGETS = ("auto", "cpu", "cuda", "llvm", "c", *ARCHS)


class Gpu(NamedTuple):
    """A GPU of this machine, as its driver describes it."""

    name: str
    arch: str | None  # whose PTX it runs; None for a GPU that is too old
    problem: str  # why there is none


@cache
def gpus() -> tuple[tuple[Gpu, ...], str]:
    """The GPUs of this machine, and if there is none, why."""
    from tilewright._core import core

    found = core.cuda_devices()
    if isinstance(found, str):
        return (), found
    return tuple(Gpu(*facts) for facts in found), ""


def synchronize() -> None:
    """Waits for what runs on GPUs; elsewhere a kernel is done when its call returns."""
    if gpus()[0]:
        from tilewright._core import core

        core.cuda_synchronize()


def _find_gpu(device: str) -> str:
    """The full name of a GPU that is there (`cuda` is `cuda:0`)."""
    found, reason = gpus()
    number = device.removeprefix("cuda").removeprefix(":") or "0"
    if not found:
        raise LanguageError(
            f"device '{device}': {reason}", hint=f"without a GPU use {', '.join(DEVICES)}"
        )
    if not number.isdecimal() or int(number) >= len(found):
        raise LanguageError(
            f"device '{device}': this machine has {len(found)} GPU(s)",
            hint=f"use {', '.join(f'cuda:{n}' for n in range(len(found)))}",
        )
    gpu = found[int(number)]
    if gpu.arch is None:
        raise LanguageError(f"device '{device}': {gpu.problem}")
    return f"cuda:{int(number)}"


class Placement(NamedTuple):
    """The decision for one kernel: the device, and why if it is not the requested one."""

    device: str
    target: str
    reason: str | None

    @property
    def is_cuda(self) -> bool:
        """Whether a GPU of this machine runs the kernel."""
        return self.device.startswith("cuda:")

    @property
    def is_gpu(self) -> bool:
        """Whether GPU code runs, on a real or a virtual one."""
        return self.is_cuda or self.is_virtual

    @property
    def is_virtual(self) -> bool:
        """Whether the virtual GPU runs the kernel."""
        return self.device.startswith("vgpu:")

    @property
    def arch(self) -> str:
        """The architecture that PTX is generated for."""
        if self.is_virtual:
            return self.device.removeprefix("vgpu:")
        if self.is_cuda:
            return str(gpus()[0][int(self.device.removeprefix("cuda:"))].arch)
        return self.target if self.target in ARCHS else default_arch()


def place(target: Any = "auto", device: str | None = None) -> Placement:
    """Decides where a kernel compiled for `target` runs; `device` and the environment win."""
    name = target_name(target)
    environment.switch("TILEWRIGHT_DEBUG")  # where it is read, nothing may be refused
    wanted = None if device else environment.text("TILEWRIGHT_DEVICE")
    try:
        return _place(name, device or wanted)
    except LanguageError as error:
        if wanted is None:
            raise
        raise LanguageError(f"{error.message} (from TILEWRIGHT_DEVICE)") from None


def _place(name: str, device: str | None) -> Placement:
    if device is None:
        return _choose(name)
    if device == "cuda" or device.startswith("cuda:"):
        return Placement(_find_gpu(device), name, None)
    if device not in DEVICES:
        raise LanguageError(
            f"device '{device}' does not exist", hint=f"use {', '.join((*DEVICES, 'cuda:0'))}"
        )
    return Placement(device, name, None)


def _choose(target: str) -> Placement:
    """The device for a target if nothing else was requested."""
    if target in DEVICES and target != "cpu":
        return Placement(target, target, None)
    if target in ARCHS:
        for number, gpu in enumerate(gpus()[0]):
            if gpu.arch == target:
                return Placement(f"cuda:{number}", target, None)
        reason = f"target '{target}': no such GPU is here, its virtual GPU runs the kernel"
        return Placement(f"vgpu:{target}", target, reason)
    if environment.switch("TILEWRIGHT_CHECK"):
        reason = "TILEWRIGHT_CHECK is set: the reference interpreter runs the kernel"
        return Placement("interp", target, reason)
    found, missing = gpus() if target in ("auto", "cuda") else ((), "")
    if found and found[0].arch:
        return Placement("cuda:0", target, None)
    if target == "cuda":
        reason = f"target 'cuda': {missing or found[0].problem}; the CPU runs the kernel"
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


def _arch_of_device() -> str | None:
    """The architecture of the GPU that runs kernels which name no device, if one does."""
    device = environment.text("TILEWRIGHT_DEVICE") or "cuda:0"
    if device.startswith("vgpu:"):
        return device.removeprefix("vgpu:")
    number = device.removeprefix("cuda").removeprefix(":") or "0"
    if not device.startswith("cuda") or not number.isdecimal():
        return None
    found = gpus()[0]
    return found[int(number)].arch if int(number) < len(found) else None


def default_arch() -> str:
    """The architecture where none is named: of the GPU that kernels run on, without one sm_80."""
    arch = environment.text("TILEWRIGHT_ARCH")
    if arch is None:
        device_arch = _arch_of_device()
        return device_arch if device_arch in ARCHS else "sm_80"
    if arch not in ARCHS:
        raise LanguageError(
            f"TILEWRIGHT_ARCH: unknown architecture '{arch}'", hint=f"use {', '.join(ARCHS)}"
        )
    return arch


def capability(arch: str | None = None) -> tuple[int, int]:
    """The compute capability that device queries answer."""
    arch = arch or default_arch()
    if arch not in ARCHS:
        raise LanguageError(f"unknown architecture '{arch}'", hint=f"use {', '.join(ARCHS)}")
    return _CAPABILITIES[arch]


def multiprocessors(arch: str | None = None) -> int:
    """The multiprocessors that device queries answer: those of a well-known device."""
    from tilewright.report.machines import MACHINES

    capability(arch)  # refuses what is not known
    return MACHINES[arch or default_arch()].processors
