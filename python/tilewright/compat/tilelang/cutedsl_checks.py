"""Whether TileLang's code generator for NVIDIA's CuTe DSL could be used: no."""

from __future__ import annotations


def check_cutedsl_available() -> None:
    """Programs expect an ImportError where it is missing."""
    raise ImportError("code for CuTe DSL is not generated here; kernels are compiled to PTX")
