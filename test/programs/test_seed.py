"""The seed kernel, from its unmodified script, against an independent computation."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "seed"))

import reference  # noqa: E402
import run_seed  # noqa: E402


@pytest.mark.parametrize("case", run_seed.SMALL, ids=lambda c: f"{c.arch}-window-{c.window}")
def test_seed_agrees_with_numpy(case) -> None:
    errors, _, _ = run_seed.run_case(case)
    assert max(errors.values()) <= run_seed.TOLERANCE, errors


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
    errors, _, _ = run_seed.run_case(windowed)
    assert min(errors.values()) > 10 * run_seed.TOLERANCE


def test_layout_of_dq_is_read_back_by_its_formula() -> None:
    logical = np.arange(2 * 1 * 16 * 32).reshape(2, 1, 16, 32)
    stored = np.zeros((2, 1, 2, 4, 2, 32), int)
    for b, h, i, d in np.ndindex(*logical.shape):
        stored[b, h, i // 8, d // 8, d % 2, 4 * (i % 8) + (d % 8) // 2] = logical[b, h, i, d]
    read = reference.dq_from_layout(stored.reshape(logical.shape))
    np.testing.assert_array_equal(read, logical)
