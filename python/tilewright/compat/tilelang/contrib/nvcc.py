"""Questions to nvcc, answered for the chosen architecture; nvcc itself is never called."""

from __future__ import annotations

from typing import Any

from tilewright.compat import refuse_rest
from tilewright.compat.tvm.target import Target
from tilewright.runtime.device import ARCHS, capability
from tilewright.support.errors import LanguageError
from tilewright.support.not_part import NotPart

_REASON = "nvcc is never called; kernel.ptx is the generated code and kernel.cubin() assembles it"

compile_cuda = NotPart("nvcc.compile_cuda", _REASON)
get_ptx_from_source = NotPart("nvcc.get_ptx_from_source", _REASON)
get_sass_from_source = NotPart("nvcc.get_sass_from_source", _REASON)
get_nvcc_compiler = NotPart("nvcc.get_nvcc_compiler", _REASON)
find_cuda_path = NotPart("nvcc.find_cuda_path", _REASON)
get_cuda_version = NotPart("nvcc.get_cuda_version", _REASON)


def _capability_of(target: Any) -> tuple[int, int]:
    arch = Target(target).arch if target is not None else None
    return capability(arch if arch in ARCHS else None)


def get_target_compute_version(target: Any = None) -> str:
    """The compute capability as text, such as "8.0"."""
    major, minor = _capability_of(target)
    return f"{major}.{minor}"


def parse_compute_version(compute_version: str) -> tuple[int, int]:
    """(9, 0) for "9.0"."""
    major, point, minor = str(compute_version).partition(".")
    if not (major.isdecimal() and point and minor[:1].isdecimal()):
        raise LanguageError(f"a compute capability is like '9.0', got {compute_version!r}")
    return int(major), int("".join(c for c in minor if c.isdecimal()))


def get_target_arch(compute_version: str | tuple[int, int]) -> str:
    """ "90" for "9.0"."""
    if isinstance(compute_version, tuple):
        return "".join(str(part) for part in compute_version)
    return compute_version.replace(".", "")


def have_fp16(compute_version: str) -> bool:
    """Whether devices of a capability compute with float16: all that are targets do."""
    return parse_compute_version(compute_version) >= (5, 3)


def have_int8(compute_version: str) -> bool:
    """Whether devices of a capability have int8 products."""
    return parse_compute_version(compute_version) >= (6, 1)


def have_bf16(compute_version: str) -> bool:
    """Whether devices of a capability compute with bfloat16."""
    return parse_compute_version(compute_version) >= (8, 0)


def have_fp8(compute_version: str) -> bool:
    """Whether devices of a capability have 8-bit floats."""
    return parse_compute_version(compute_version) >= (8, 9)


def have_tensorcore(compute_version: str | None = None, target: Any = None) -> bool:
    """Whether there are tensor cores."""
    version = compute_version or get_target_compute_version(target)
    return parse_compute_version(version) >= (7, 0)


def have_cudagraph() -> bool:
    """False: kernels are launched one by one."""
    return False


def have_tma(target: Any = None) -> bool:
    """Whether the target copies tiles with TMA."""
    return _capability_of(target) >= (9, 0)


def is_hopper(target: Any = None) -> bool:
    """Whether the target is of compute capability 9."""
    return _capability_of(target)[0] == 9


have_pdl = have_mbarrier = have_tma

refuse_rest(__name__)
