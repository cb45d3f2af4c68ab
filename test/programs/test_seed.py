"""The seed kernel, from its unmodified script, against an independent computation."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "seed"))

import reference  # noqa: E402
import run_seed  # noqa: E402


@pytest.mark.parametrize("engine", ["interp", "cpu", "vgpu"])
@pytest.mark.parametrize("case", run_seed.SMALL, ids=lambda c: f"{c.arch}-window-{c.window}")
def test_seed_agrees_with_numpy(case, engine: str) -> None:
    device = f"vgpu:{case.arch}" if engine == "vgpu" else engine
    outcome = run_seed.run_case(case, device)
    assert max(outcome.errors.values()) <= run_seed.TOLERANCE, outcome.errors
    assert not outcome.findings


@pytest.mark.parametrize("mode", ["", "late"])
def test_seed_runs_on_products_of_warpgroups(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All five gemms, dQ as its transpose; operands come from shared memory without ldmatrix."""
    if mode:
        monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", mode)
    case = next(case for case in run_seed.SMALL if case.arch == "sm_90")
    outcome = run_seed.run_case(case, "vgpu:sm_90a")
    assert max(outcome.errors.values()) <= run_seed.TOLERANCE, outcome.errors
    assert not outcome.findings
    case = next(case for case in run_seed.MIDDLE if case.arch == "sm_90")
    ptx = run_seed.load_kernel(case, "vgpu:sm_90a").ptx  # heads of 128
    assert ptx.count("wgmma.mma_async") == 28
    assert "mma.sync" not in ptx
    assert "ldmatrix" not in ptx
    # dQ, 16 KB under its layout, is one addition an iteration; dK and dV are one each.
    assert "red.global" not in ptx
    assert ptx.count("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32") == 1
    assert ptx.count("cp.reduce.async.bulk.tensor.5d.global.shared::cta.add") == 2
    # In the loop, each wait but the last leaves a product open, beside which the threads work.
    waits = re.findall(r"wgmma\.wait_group\.sync\.aligned (\d);", ptx)
    assert waits == ["1", "1", "1", "1", "0"]


def test_seed_uses_tensor_cores_and_no_local_memory() -> None:
    kernel = run_seed.load_kernel(run_seed.SMALL[0], "vgpu:sm_80")
    assert kernel.ptx.count("mma.sync.aligned.m16n8k16") > 0
    assert ".local" not in kernel.ptx
    assert not [r for r in kernel.remarks if "leaves the tensor cores" in r.message]


def test_atomic_add_into_relaid_dq_is_scalar() -> None:
    """The bug that started the project: pairs of slots that lie 32 elements apart in dQ."""
    kernel = run_seed.load_kernel(run_seed.SMALL[0], "vgpu:sm_80")
    assert "red.global.add.f32" in kernel.ptx
    assert not re.search(r"(red|atom)\.\S*\.v[24]", kernel.ptx)


def test_verify_compares_interpreter_and_virtual_gpu() -> None:
    case = run_seed.SMALL[0]
    kernel = run_seed.load_kernel(case, "interp")
    inputs = run_seed.make_inputs(case, np.random.default_rng(1))
    shape = inputs["Q"].shape
    statistics = [np.full(shape[:3], 4, np.float32), np.zeros(shape[:3], np.float32)]
    outputs = [np.zeros(inputs[name].shape, np.float32) for name in ("Q", "K", "V")]
    verified = kernel.verify(*inputs.values(), *statistics, *outputs, arch="sm_80")
    assert verified, str(verified)
    assert verified.compared > 0
    assert verified.undecided == 0


def test_the_main_loop_is_counted_line_by_line() -> None:
    console = Console(width=140, record=True, file=io.StringIO())
    assert run_seed.show_counters(console, run_seed.SMALL[2])
    text = console.export_text()
    assert "interp and vgpu:sm_90 agree" in text
    products = [line for line in text.splitlines() if "T.gemm(" in line]
    assert len(products) == 5
    # Five equal products, none of which meets a bank conflict.
    assert len({re.search(r"[\d,]{9,}", line)[0] for line in products}) == 1
    assert all("1.00" in line for line in products)


def test_comparison_sees_a_wrong_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tolerance is tight enough to tell the causal kernel from the windowed one."""
    causal, windowed = run_seed.SMALL[:2]
    assert windowed.window is not None
    real = reference.attention_backward

    def without_window(**arguments):
        return {
            **real(**arguments),
            **{k: v for k, v in real(**{**arguments, "window": None}).items() if k[0] == "d"},
        }

    monkeypatch.setattr(run_seed, "attention_backward", without_window)
    errors = run_seed.run_case(windowed, "interp").errors
    assert min(errors.values()) > 10 * run_seed.TOLERANCE


def test_layout_of_dq_is_read_back_by_its_formula() -> None:
    logical = np.arange(2 * 1 * 16 * 32).reshape(2, 1, 16, 32)
    stored = np.zeros((2, 1, 2, 4, 2, 32), int)
    for b, h, i, d in np.ndindex(*logical.shape):
        stored[b, h, i // 8, d // 8, d % 2, 4 * (i % 8) + (d % 8) // 2] = logical[b, h, i, d]
    read = reference.dq_from_layout(stored.reshape(logical.shape))
    np.testing.assert_array_equal(read, logical)
