"""Helpers for tests of kernels."""

from __future__ import annotations

import random
import sys
from typing import Any

from tilewright.support.errors import ReportedNameError, caller_location


def set_random_seed(seed: int = 42) -> None:
    """Seeds `random`, numpy and, where it is loaded, torch."""
    import numpy

    random.seed(seed)
    numpy.random.seed(seed)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)


def main() -> None:
    """Runs the tests of the calling file with pytest."""
    import pytest

    frame = sys._getframe(1)
    sys.exit(pytest.main([frame.f_code.co_filename]))


# ---- Which tests run: those that need a GPU run on the device that stands for it ----


def requires_package(*names: str) -> Any:
    """Skips a test where one of the packages is not installed."""
    from tilewright.compat.tvm.testing import requires_package

    return requires_package(*names)


def requires_cuda(function: Any) -> Any:
    """The test itself: every device runs CUDA scripts."""
    return function


def _skips(what: str) -> Any:
    def mark(function: Any) -> Any:
        import pytest

        return pytest.mark.skip(reason=f"needs {what}")(function)

    return mark


requires_cuda_or_cdna = requires_cuda
requires_rocm = _skips("a GPU of AMD")
requires_cdna = _skips("a GPU of AMD")
requires_gfx950 = _skips("a GPU of AMD")
requires_metal = _skips("a GPU of Apple")


def requires_llvm(function: Any) -> Any:
    """The test itself: LLVM is in here."""
    return function


def torch_assert_close(*args: Any, **kwargs: Any) -> None:
    """`tilelang.utils.tensor.torch_assert_close`."""
    from tilewright.compat.tilelang.utils.tensor import torch_assert_close

    torch_assert_close(*args, **kwargs)


def requires_cuda_compute_version(major: int, minor: int = 0, mode: str = "ge") -> Any:
    """Skips a test where the capability of the chosen architecture is not `mode` this one."""
    import operator

    from tilewright.runtime.device import capability

    holds = getattr(operator, mode)(capability(), (major, minor))

    def mark(function: Any) -> Any:
        if holds:
            return function
        import pytest

        return pytest.mark.skip(reason=f"needs a capability {mode} {major}.{minor}")(function)

    return mark


def requires_cuda_compute_version_ge(major: int, minor: int = 0) -> Any:
    """Skips a test below this capability."""
    return requires_cuda_compute_version(major, minor, "ge")


def requires_cuda_compute_version_gt(major: int, minor: int = 0) -> Any:
    """Skips a test at or below this capability."""
    return requires_cuda_compute_version(major, minor, "gt")


def requires_cuda_compute_version_eq(major: int, minor: int = 0) -> Any:
    """Skips a test at another capability."""
    return requires_cuda_compute_version(major, minor, "eq")


def requires_cuda_compute_version_lt(major: int, minor: int = 0) -> Any:
    """Skips a test at or above this capability."""
    return requires_cuda_compute_version(major, minor, "lt")


def requires_cuda_compute_version_le(major: int, minor: int = 0) -> Any:
    """Skips a test above this capability."""
    return requires_cuda_compute_version(major, minor, "le")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise ReportedNameError(f"'tilelang.testing.{name}' is not supported yet", caller_location())
