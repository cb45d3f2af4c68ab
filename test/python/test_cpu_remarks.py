"""What is decided about CPU code, where a user looks for it: remarks and dumps of passes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright.arguments import convert_argument


def make_softmax():
    @T.prim_func
    def softmax(A: T.Tensor((64, 1024), "float32"), B: T.Tensor((64, 1024), "float32")):
        with T.Kernel(16, threads=128) as bx:
            a = T.alloc_fragment((4, 1024), "float32")
            top = T.alloc_fragment((4,), "float32")
            total = T.alloc_fragment((4,), "float32")
            T.copy(A[bx * 4, 0], a)
            T.reduce_max(a, top, dim=1)
            for i, j in T.Parallel(4, 1024):
                a[i, j] = T.exp(a[i, j] - top[i])
            T.reduce_sum(a, total, dim=1)
            for i, j in T.Parallel(4, 1024):
                B[bx * 4 + i, j] = a[i, j] / total[i]

    return softmax


def make_successor():
    @T.prim_func
    def successor(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(64):
                B[i] = A[i] + 1

    return successor


def test_remarks_say_which_statements_run_together() -> None:
    function = make_softmax()
    first = function.location.line
    remarks = tilewright.compile(function, target="cpu").remarks
    said = [(r.kind, r.line - first, r.message, r.data) for r in remarks]
    assert ("fusion", 5, "the 2 statements from here on run as one loop", {"statements": 2}) in said
    behind = "starts a loop of its own: 'top' is complete only after the loop"
    assert ("fusion", 7, behind, {}) in said
    assert ("rows", "the statements from here on run row by row") in [(s[0], s[2]) for s in said]
    assert all(remark.file == __file__ for remark in remarks)


SCRIPT = """
import json, sys, tilewright
sys.path.insert(0, {directory!r})
from test_cpu_remarks import make_softmax
kernel = tilewright.compile(make_softmax(), target="cpu")
print(json.dumps(["load" in kernel.seconds, kernel.remarks]))
"""


def test_remarks_are_kept_with_the_code(tmp_path: Path) -> None:
    script = SCRIPT.format(directory=str(Path(__file__).parent))
    environment = {**os.environ, "TILEWRIGHT_CACHE_DIR": str(tmp_path), "TILEWRIGHT_CACHE": "1"}
    seen = []
    for _ in range(2):
        run = [sys.executable, "-c", script]
        output = subprocess.run(run, capture_output=True, text=True, env=environment, check=True)
        seen.append(json.loads(output.stdout))
    (first_found, first), (then_found, then) = seen
    assert [first_found, then_found] == [False, True]
    assert first and first == then


def test_a_call_with_overlap_is_remarked() -> None:
    kernel = tilewright.compile(make_successor(), target="cpu")
    a = np.zeros(64, np.float32)
    kernel(a, np.zeros_like(a))
    assert kernel.remarks == []
    kernel(a, a)
    np.testing.assert_array_equal(a, 1)
    assert [remark.kind for remark in kernel.remarks] == ["overlap"]


def test_a_call_with_overlap_compiles_while_nobody_uses_the_program(monkeypatch) -> None:
    """Its code was compiled during the call under a lock that was not the program's: two threads
    could use its MLIR context, which is for one, at the same time."""
    monkeypatch.setenv("TILEWRIGHT_CACHE", "0")

    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32"), turns: T.int32):
        with T.Kernel(1, threads=32):
            for _ in T.serial(turns):
                for i in T.Parallel(64):
                    B[i] = A[i] + 1

    kernel = tilewright.compile(main, target="cpu")
    a = np.zeros(64, np.float32)
    kernel(a, np.zeros_like(a), 1)
    arrays = [a.copy(), np.zeros_like(a)]
    arguments = [convert_argument(*pair) for pair in zip(arrays, kernel.params, strict=False)]
    with ThreadPoolExecutor(1) as pool:
        interpreted = pool.submit(kernel.program.run, "interp", [*arguments, 60_000])
        time.sleep(0.2)  # it has begun
        assert not interpreted.done()
        kernel(a, a, 1)
        assert interpreted.done(), "the call did not wait for the interpreter"
    np.testing.assert_array_equal(a, 1)
    np.testing.assert_array_equal(arrays[1], 1)


@pytest.mark.parametrize(
    ("stage", "mark"),
    [
        ("tile-fuse-loops", "tile.parallel"),
        ("tile-fuse-row-loops", "scf.for"),
        ("host", "llvm.getelementptr"),
        ("host-llvm", "define void @softmax.entry"),
        ("asm", "softmax.entry:"),
    ],
)
def test_every_stage_can_be_printed(stage: str, mark: str) -> None:
    assert mark in tilewright.compile(make_softmax(), target="cpu").ir(stage)


def test_tw_shows_passes_and_remarks(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys; sys.path.insert(0, " + repr(str(Path(__file__).parent)) + ")\n"
        "import tilelang\nfrom test_cpu_remarks import make_softmax\n"
        "tilelang.compile(make_softmax(), target='cpu')\n"
    )
    tw = [sys.executable, "-m", "tilewright", "run", str(script)]
    dump = subprocess.run(
        [*tw, "-v", "--dump-ir-after", "tile-fuse-row-loops"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "scf.for" in dump.stdout
    assert "the statements from here on run row by row" in dump.stderr
