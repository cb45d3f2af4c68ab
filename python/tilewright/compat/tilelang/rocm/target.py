"""Whether there is a GPU of AMD that kernels could be compiled for: no."""

from __future__ import annotations


def check_hip_availability() -> bool:
    """Kernels are compiled for NVIDIA GPUs and for the CPU."""
    return False
