"""Whether there is a GPU of Apple that kernels could be compiled for: no."""

from __future__ import annotations


def check_metal_availability() -> bool:
    """Kernels are compiled for NVIDIA GPUs and for the CPU."""
    return False


def check_metal4_availability() -> bool:
    """Kernels are compiled for NVIDIA GPUs and for the CPU."""
    return False
