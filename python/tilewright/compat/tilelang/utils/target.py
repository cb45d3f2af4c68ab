"""Targets, under the name TileLang had them before 0.1.15."""

from tilewright.compat.tilelang.backend.target import auto_detect_target, determine_target
from tilewright.compat.tilelang.utils.device import (
    check_cuda_availability,
    check_hip_availability,
    check_metal_availability,
    target_has_bulk_copy,
    target_is_cuda,
    target_is_hopper,
    target_is_volta,
)

__all__ = [
    "auto_detect_target",
    "check_cuda_availability",
    "check_hip_availability",
    "check_metal_availability",
    "determine_target",
    "target_has_bulk_copy",
    "target_is_cuda",
    "target_is_hopper",
    "target_is_volta",
]
