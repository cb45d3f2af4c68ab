"""Gemms, attention, sums of tiles and the seed on GPUs after Hopper: bulk copies with barriers, and
products on mma.sync, in both modes of the virtual GPU. The CPU's results are the reference."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tilewright.ptxas import find_ptxas
from tilewright.vgpu import read_launch

FUZZ = Path(__file__).resolve().parent.parent / "fuzz"
sys.path.insert(0, str(FUZZ))

import ptx_mutants  # noqa: E402

NAMES = ["gemm", "gemm of run-time shape", "gemm with one stage", "fp8 gemm", "sums of tiles",
         "tile that a loop reads", "attention", "seed"]  # fmt: skip


def run(name: str, device: str):
    """The kernel on a device, its arguments after a call, and what the launches say."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ptx_mutants, "DEVICE", device)
        kernel = ptx_mutants.KERNELS[name]()
        values, result = ptx_mutants._run(kernel, {})
    return kernel, values, result


@cache
def expected(name: str) -> list[np.ndarray]:
    return run(name, "cpu")[1]


@pytest.mark.parametrize("mode", ["", "late"])
@pytest.mark.parametrize("arch", ["sm_100", "sm_120"])
@pytest.mark.parametrize("name", NAMES)
def test_kernels(name: str, arch: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", mode)
    kernel, values, result = run(name, f"vgpu:{arch}")
    assert not any(read_launch(launch).findings for launch in result["launches"])
    assert "wgmma" not in kernel.ptx and "mma.sync" in kernel.ptx
    if name in ("gemm", "attention", "fp8 gemm", "seed"):
        assert "cp.async.bulk.tensor" in kernel.ptx
    for got, want in zip(values, expected(name), strict=True):
        got, want = got.astype(np.float64), want.astype(np.float64)
        scale = np.abs(want[np.isfinite(want)]).max(initial=0)
        np.testing.assert_allclose(got, want, rtol=0, atol=kernel.tolerance * scale)


@pytest.mark.parametrize("arch", ["sm_100", "sm_120"])
def test_ptxas_takes_the_code(arch: str) -> None:
    """Operations of mixed precision among it (`add.rn.f32.f16`)."""
    if find_ptxas() is None:
        pytest.skip("ptxas is not installed")
    kernel, _, _ = run("tile that a loop reads", f"vgpu:{arch}")
    assert "f32.f16" in kernel.ptx
    assert kernel.compiled.cubin()
