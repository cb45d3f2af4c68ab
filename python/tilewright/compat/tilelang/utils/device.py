"""Questions about the device, answered for the chosen one."""

from __future__ import annotations

import os
from typing import Any

from tilewright.compat.tvm.target import Target
from tilewright.runtime import device
from tilewright.runtime.device import capability

IS_CUDA = True
IS_NPU = IS_MPS = False


def get_current_device() -> int:
    """The current device of CUDA: the only one."""
    return 0


def device_synchronize(device_id: Any = None) -> None:
    """Waits for the kernels that run."""
    device.synchronize()


def get_available_cpu_count() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0))


def check_cuda_availability() -> bool:
    """True: kernels of CUDA run, on a GPU or on what stands in for one."""
    return True


def check_hip_availability() -> bool:
    """False: AMD's GPUs are no target."""
    return False


def check_metal_availability() -> bool:
    """False: Apple's GPUs are no target."""
    return False


def target_is_cuda(target: Any) -> bool:
    """Whether a target is CUDA's."""
    return Target(target).kind == "cuda"


def target_is_hopper(target: Any) -> bool:
    """Whether a target is of compute capability 9."""
    return target_is_cuda(target) and capability(Target(target).arch)[0] == 9


def target_is_volta(target: Any) -> bool:
    """False: compute capability 8.0 is the oldest target."""
    return False


def target_has_bulk_copy(target: Any) -> bool:
    """Whether a target has TMA."""
    return target_is_hopper(target)
