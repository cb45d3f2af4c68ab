"""Nonsense in a TILEWRIGHT_* variable is an error that names it, where the variable is read."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright.runtime.ptxas import find_nvdisasm
from tilewright.support import environment


def make_kernel(number: int):
    """A kernel that no other test has compiled."""

    @T.prim_func
    def main(A: T.Tensor((8,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(8):
                A[i] = A[i] + float(number)

    return tilewright.compile(main)


NONSENSE = {
    "TILEWRIGHT_ARCH": "sm_1",
    "TILEWRIGHT_CACHE": "maybe",
    "TILEWRIGHT_CACHE_DIR": "cache",
    "TILEWRIGHT_CACHE_MB": "plenty",
    "TILEWRIGHT_CHECK": "thorough",
    "TILEWRIGHT_CHECK_PLANS": "2",
    "TILEWRIGHT_COMPILE_SECONDS": "soon",
    "TILEWRIGHT_CORE": "abacus",
    "TILEWRIGHT_CPU": "z80",
    "TILEWRIGHT_L2_KB": "small",
    "TILEWRIGHT_VGPU_MODE": "later",
    "TILEWRIGHT_DEBUG": "please",
    "TILEWRIGHT_DETERMINISTIC": "mostly",
    "TILEWRIGHT_DEVICE": "abacus",
    "TILEWRIGHT_LIBCUDA": "/nowhere/libcuda.so.1",
    "TILEWRIGHT_NVDISASM": "/nowhere/nvdisasm",
    "TILEWRIGHT_PTXAS": "/nowhere/ptxas",
    "TILEWRIGHT_THREADS": "-3",
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_an_error_that_names_the_variable(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, NONSENSE[name])
    with pytest.raises(tilewright.TilewrightError, match=name):
        kernel = make_kernel(sorted(NONSENSE).index(name))
        kernel(np.ones(8, np.float32))
        find_nvdisasm()
        kernel.cubin()


@pytest.mark.parametrize("value", ["", "0", "off", "1", "TRUE"])
def test_switches_have_many_spellings(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TILEWRIGHT_DETERMINISTIC", "TILEWRIGHT_CHECK_PLANS", "TILEWRIGHT_CACHE"):
        monkeypatch.setenv(name, value)
    a = np.ones(8, np.float32)
    make_kernel(100)(a)
    assert a[0] == 101


@pytest.mark.parametrize("value", ["0", "1025", "1e3", "0x2", "99999999999999999999", " 2"])
def test_threads_are_a_number(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = make_kernel(101)
    kernel(np.ones(8, np.float32))
    monkeypatch.setenv("TILEWRIGHT_THREADS", value)
    with pytest.raises(tilewright.TilewrightError, match="TILEWRIGHT_THREADS is"):
        kernel(np.ones(8, np.float32))


def test_a_misspelt_name_is_told() -> None:
    code = "import tilewright"
    variables = {**os.environ, "TILEWRIGHT_THREAD": "2", "TILEWRIGHT_OWN_THING": "x"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True
    )
    assert "TILEWRIGHT_THREAD has no effect; did you mean TILEWRIGHT_THREADS?" in done.stderr
    assert "OWN_THING" not in done.stderr


def test_every_variable_is_listed() -> None:
    assert set(NONSENSE) == set(environment.KNOWN)
