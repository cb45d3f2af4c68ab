"""An element outside its on-chip tile is an error on every engine (docs/semantics.md)."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T

DEVICES = ["interp", "cpu", "vgpu:sm_80", "vgpu:sm_90a"]
SPACES = {"shared": T.alloc_shared, "fragment": T.alloc_fragment}


def run(program, device: str, *more: np.ndarray) -> np.ndarray:
    a = np.arange(128, dtype=np.float32).reshape(8, 16)
    b = np.zeros_like(a)
    tilewright.compile(program, device=device)(a, *more, b)
    return b


def shifted(space: str, distance: int):
    @T.prim_func
    def main(A: T.Tensor((8, 16), "float32"), B: T.Tensor((8, 16), "float32")):
        with T.Kernel(1, threads=32):
            s = SPACES[space]((8, 16), "float32")
            T.copy(A, s)
            for i, j in T.Parallel(8, 16):
                B[i, j] = s[i, j + distance]

    return main


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize(("distance", "where"), [(2, r"\[0, 16\]"), (-2, r"\[0, -2\]")])
def test_elements_that_certainly_lie_outside(
    space: str, distance: int, where: str, device: str
) -> None:
    """GPU code read the next row."""
    with pytest.raises(tilewright.TilewrightError, match=f"'s' at {where} .* in iteration"):
        tilewright.compile(shifted(space, distance), device=device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("space", SPACES)
def test_a_condition_makes_it_legal(space: str, device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((8, 16), "float32"), B: T.Tensor((8, 16), "float32")):
        with T.Kernel(1, threads=32):
            s = SPACES[space]((8, 16), "float32")
            T.copy(A, s)
            for i, j in T.Parallel(8, 16):
                B[i, j] = T.if_then_else(j + 2 < 16, s[i, j + 2], 0)

    b = run(main, device)
    assert b[3, 0] == 50
    assert b[3, 15] == 0


@pytest.mark.parametrize("device", DEVICES)
def test_a_break_makes_it_legal(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((8, 16), "float32"), B: T.Tensor((8, 16), "float32")):
        with T.Kernel(1, threads=32):
            s = T.alloc_shared((8, 16), "float32")
            T.copy(A, s)
            for k in T.serial(8):
                if k == 7:
                    break
                for j in T.Parallel(16):
                    B[k, j] = s[k + 1, j]

    assert run(main, device)[6, 0] == 112


def indexed(bounded: bool):
    @T.prim_func
    def main(
        A: T.Tensor((8, 16), "float32"),
        I: T.Tensor((16,), "int32"),
        B: T.Tensor((8, 16), "float32"),
    ):
        with T.Kernel(1, threads=32):
            s = T.alloc_shared((8, 16), "float32")
            T.copy(A, s)
            for i, j in T.Parallel(8, 16):
                if bounded:
                    B[i, j] = s[i, I[j] & 15]
                else:
                    B[i, j] = s[i, I[j]]

    return main


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("wrong", [16, -1, 1 << 30])
def test_elements_that_data_picks(wrong: int, device: str) -> None:
    """The virtual GPU found only what lay outside of all shared memory."""
    picked = np.arange(16, dtype=np.int32)[::-1].copy()
    assert run(indexed(False), device, picked)[1, 0] == 31
    picked[0] = wrong
    with pytest.raises(tilewright.TilewrightError, match=r"'s'.*(out of bounds|outside)"):
        run(indexed(False), device, picked)


def test_what_is_proved_is_not_tested() -> None:
    assert "__assertfail" in tilewright.compile(indexed(False), device="vgpu:sm_80").ptx
    assert "__assertfail" not in tilewright.compile(indexed(True), device="vgpu:sm_80").ptx
