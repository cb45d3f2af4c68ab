"""`torch.cuda` of the stand-in: answers for the chosen architecture."""

from __future__ import annotations

from typing import Any

from tilewright.runtime.device import capability
from tilewright.support.errors import ReportedNameError, caller_location


def is_available() -> bool:
    """True, so that scripts continue; kernels run on the chosen device."""
    return True


def device_count() -> int:
    """One device."""
    return 1


def current_device() -> int:
    """The only device."""
    return 0


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """(8, 0) unless `--arch` says otherwise."""
    return capability()


def get_device_name(device: Any = None) -> str:
    """A name that says what it is."""
    major, minor = capability()
    return f"Tilewright stand-in for sm_{major}{minor}"


def manual_seed(seed: int) -> None:
    """Nothing to seed: there is no device."""


def manual_seed_all(seed: int) -> None:
    """Nothing to seed: there is no device."""


def synchronize(device: Any = None) -> None:
    """Kernels are finished when their call returns."""


def set_device(device: Any) -> None:
    """There is one device."""


def empty_cache() -> None:
    """There is no cache."""


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise ReportedNameError(
        f"'torch.cuda.{name}' is not part of the stand-in torch; install torch to use it",
        caller_location(),
    )
