"""What a finding says of places in the program."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright.runtime.findings import render_finding


def test_an_access_of_several_lines_is_given_no_line() -> None:
    """LLVM makes one store of those of both branches, which then has line 0."""

    @T.prim_func
    def main(W: T.Tensor((8, 64), "float32"), F: T.Tensor((8,), "int32")):
        with T.Kernel(8, threads=64) as b:
            tx = T.get_thread_binding()
            if b > 0:
                while T.atomic_load(F[b - 1], memory_order="relaxed") == 0:
                    T.evaluate(0)
                W[b, tx] = W[b - 1, tx] + 1.0
            else:
                W[b, tx] = 1.0
            T.atomic_store(F[b], 1, memory_order="release")

    with pytest.raises(tilewright.TilewrightError, match="nothing orders them") as error:
        tilewright.compile(main, device="vgpu:sm_80")(
            np.zeros((8, 64), np.float32), np.zeros(8, np.int32)
        )
    assert "W[b, tx] = W[b - 1, tx] + 1.0" in str(error.value)
    assert ":0: note" not in str(error.value)


def test_a_finding_without_a_line_has_no_location() -> None:
    finding = {
        "file": "kernel.py", "line": 0, "column": 0, "message": "it spins", "count": 1,
        "kind": "deadlock", "other": "kernel.py:0", "details": (),
    }  # fmt: skip
    assert "kernel.py" not in render_finding(finding)
