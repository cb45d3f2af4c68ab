"""`tilelang.engine.param`: what a kernel takes, and what lowering gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tilewright.types.kernel_param import KernelParam


@dataclass(frozen=True)
class CompiledArtifact:
    """What `tilelang.lower` gives: the generated code, and the kernel that it is the code of."""

    kernel: Any
    params: list[KernelParam]
    kernel_source: str

    @property
    def host_mod(self) -> Any:
        """The traced program."""
        return self.kernel.prim_func

    @property
    def device_mod(self) -> Any:
        """The traced program: kernels and host code are one."""
        return self.kernel.prim_func

    @property
    def rt_mod(self) -> Any:
        """What can be called."""
        return self.kernel


__all__ = ["CompiledArtifact", "KernelParam"]
