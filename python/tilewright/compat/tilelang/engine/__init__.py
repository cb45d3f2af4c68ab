"""`tilelang.engine`: lowering a function, and hooks into code generators of source text."""

from __future__ import annotations

from tilewright.compat import keep_names
from tilewright.compat.tilelang.engine.callback import (
    register_c_postproc,
    register_cuda_postproc,
    register_hip_postproc,
)
from tilewright.compat.tilelang.engine.lower import lower
from tilewright.compat.tilelang.engine.param import CompiledArtifact, KernelParam

__all__ = [
    "CompiledArtifact",
    "KernelParam",
    "lower",
    "register_c_postproc",
    "register_cuda_postproc",
    "register_hip_postproc",
]

keep_names(__name__, "lower")
