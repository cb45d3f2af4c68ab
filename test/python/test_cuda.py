"""Kernels on a GPU: the code that drives NVIDIA's driver, on a stand-in that runs PTX virtually.

The stand-in (test/lib/FakeCuda) is as strict as a GPU where that finds mistakes: its addresses are
none of the host, and kernels run when somebody waits. A process loads one driver, so that each
check (cuda_checks.py) is a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import cuda_checks
import pytest
from tilewright._core import core

DRIVER = Path(core.__file__).parents[1] / "lib" / "libTwFakeCuda.so"


def run(check: Callable, *arguments: str, gpus: str = "8.0", driver: str = str(DRIVER)) -> str:
    """What a check prints, on a machine with these GPUs."""
    process = subprocess.run(
        [sys.executable, cuda_checks.__file__, check.__name__, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={
            **os.environ,
            "TILEWRIGHT_LIBCUDA": driver,
            "TILEWRIGHT_TEST_DRIVER": str(DRIVER),
            "TILEWRIGHT_FAKE_GPUS": gpus,
        },
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


@pytest.mark.parametrize(
    "check",
    [
        cuda_checks.a_gpu_runs_kernels_where_nothing_else_is_asked_for,
        cuda_checks.arrays_on_the_gpu_are_used_where_they_are,
        cuda_checks.calls_like_the_one_before,
        cuda_checks.tensors_of_torch_on_the_gpu,
        cuda_checks.code_fits_the_alignment_of_each_call,
        cuda_checks.tensors_that_share_memory_share_it_on_the_gpu,
        cuda_checks.numbers_workspaces_and_empty_launches,
        cuda_checks.a_product_with_much_shared_memory_and_its_profiler,
        cuda_checks.errors_of_the_driver_are_told_in_its_words,
    ],
    ids=lambda check: check.__name__,
)
def test_on_one_gpu(check: Callable) -> None:
    run(check)


def test_clusters() -> None:
    run(cuda_checks.blocks_start_in_clusters, gpus="9.0")


def test_programmatic_dependent_launches() -> None:
    run(cuda_checks.launches_overlap_where_the_kernel_waits_itself, gpus="9.0")


def test_an_old_driver_has_neither_tensor_maps_nor_memory_of_streams(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TILEWRIGHT_FAKE_OLD", "1")
    run(cuda_checks.numbers_workspaces_and_empty_launches)
    run(cuda_checks.a_product_with_much_shared_memory_and_its_profiler, gpus="9.0")


def test_which_gpu_and_which_code() -> None:
    run(cuda_checks.which_gpu_and_which_code, gpus="8.6,9.0,12.0,7.5")


def test_printing_and_failing() -> None:
    assert "fourth" in run(cuda_checks.printing_and_failing)


@pytest.mark.parametrize(
    ("driver", "reason"),
    [
        ("none", "TILEWRIGHT_LIBCUDA hides"),
        ("no-such-library.so", "there is no CUDA driver"),
        ("libm.so.6", "has no 'cu"),
        (str(DRIVER), "finds no GPU"),
    ],
)
def test_without_a_gpu_the_cpu_runs_the_kernel(driver: str, reason: str) -> None:
    run(cuda_checks.without_a_gpu_the_cpu_runs_the_kernel, reason, driver=driver, gpus=",")
