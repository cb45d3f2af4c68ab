"""What stops LLVM, or is larger than anything, is a report; the process goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright._core import core

TW_OPT = Path(__file__).parents[2] / "build" / "bin" / "tw-opt"

#: No code generator has a conversion to 256 bits: LLVM ends the process there.
NO_CODE = """
func.func @main(%A: memref<64xf32, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %c0 = arith.constant 0 : index
    %x = tile.load %A[%c0] : memref<64xf32, #tile.space<global>>
    %y = arith.fptosi %x : f32 to i256
    %z = arith.sitofp %y : i256 to f32
    tile.store %z, %A[%c0] : memref<64xf32, #tile.space<global>>
  }
  return
}
"""


def doubled(device: str) -> None:
    """A kernel compiles and runs as ever."""

    @T.prim_func
    def main(A: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(64):
                A[i] = A[i] * 2.0

    a = np.ones(64, np.float32)
    tilewright.compile(main, device=device)(a)
    assert (a == 2).all()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of os.fork beside threads
@pytest.mark.parametrize("target", ["cpu", "sm_80"])
def test_llvm_stops_and_the_process_goes_on(target: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    program = core.parse_program(NO_CODE)
    for _ in range(2):  # a second time as the first
        with pytest.raises(core.TraceError, match=r"internal error: .*tw-opt --run-reproducer"):
            if target == "cpu":
                program.compile_cpu([])
            else:
                program.compile_gpu(target, [], [])
    doubled("cpu")
    doubled("vgpu:sm_80")
    child = os.fork()  # no lock of the thread that stopped is held
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    (file,) = tmp_path.glob("tw-crash-*.mlir")
    if TW_OPT.exists():
        run = subprocess.run([TW_OPT, "--run-reproducer", file], capture_output=True, text=True)
        assert run.returncode == 1
        assert run.stderr.startswith("internal error: ")


def test_a_reproducer_does_not_follow_a_link(tmp_path, monkeypatch) -> None:
    """Another user may foresee its name and put a link to a file of ours there."""
    monkeypatch.chdir(tmp_path)
    program = core.parse_program(NO_CODE)

    def stop() -> Path:
        with pytest.raises(core.TraceError, match="internal error"):
            program.compile_cpu([])
        (file,) = tmp_path.glob("tw-crash-*.mlir")
        return file

    precious = tmp_path / "precious"
    precious.write_text("mine")
    file = stop()
    text = file.read_text()
    file.unlink()
    file.symlink_to(precious)
    assert stop() == file
    assert precious.read_text() == "mine"
    assert not file.is_symlink()
    assert file.read_text() == text


def test_a_text_that_is_nested_too_deeply() -> None:
    """The parser ran out of stack."""
    depth = 200_000
    nest = "scf.execute_region {" * depth + "}" * depth
    with pytest.raises(core.TraceError):
        core.parse_program("func.func @main() {" + nest + " return }")


def program_of(tmp_path: Path, body: str):
    """A kernel with these lines in a loop over `i`."""
    file = tmp_path / "program.py"
    file.write_text(
        "import tilewright.language as T\n@T.prim_func\n"
        'def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):\n'
        "    with T.Kernel(1, threads=64):\n"
        f"        for i in T.Parallel(64):\n            {body}\n"
    )
    scope: dict = {}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    return scope["main"]


@pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80"])
def test_an_expression_of_500_terms(device: str, tmp_path) -> None:
    main = program_of(tmp_path, "B[i] = " + " + ".join(["A[i]"] * 500))
    a, b = np.full(64, 0.25, np.float32), np.zeros(64, np.float32)
    tilewright.compile(main, device=device)(a, b)
    assert (b == 125).all()


@pytest.mark.parametrize("line", ["B[i] = A[None]", "B[None] = A[i]", "B[i] = A[i, None]"])
def test_no_index(line: str, tmp_path) -> None:
    with pytest.raises(tilewright.TilewrightError, match="got a Python 'NoneType'") as caught:
        program_of(tmp_path, line)
    assert caught.value.location.line == 6


def test_more_iterations_than_anything_has() -> None:
    with pytest.raises(tilewright.TilewrightError, match="more than 2\\^48 iterations"):

        @T.prim_func
        def main(A: T.Tensor((64,), "float32")):
            with T.Kernel(1, threads=64):
                for i, j in T.Parallel(1 << 40, 1 << 40):
                    A[(i + j) % 64] = 1.0


@pytest.mark.parametrize("space", ["shared", "fragment", "local"])
def test_a_tile_that_no_machine_holds(space: str) -> None:
    """The interpreter tried to."""
    with pytest.raises(tilewright.TilewrightError, match="1048576 x 1048576 is too large"):

        @T.prim_func
        def main(A: T.Tensor((64,), "float32")):
            with T.Kernel(1, threads=64):
                tile = getattr(T, f"alloc_{space}")((1 << 20, 1 << 20), "float32")
                T.clear(tile)


AT_EXIT = """
import threading, numpy as np, tilewright, tilewright.language as T
@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        for i in T.Parallel(64):
            A[i] = A[i] * 2.0
kernel = tilewright.compile(main, device={device!r})
started = threading.Event()
def work():
    a = np.ones(64, np.float32)
    while True:
        {call}
        started.set()
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
started.wait()
print("done")
"""


@pytest.mark.parametrize(
    ("device", "call"),
    [("cpu", "kernel(a)"), ("interp", "kernel(a)"), ("vgpu:sm_80", "kernel(a)"),
     ("cpu", "main.program.compile_cpu([])"), ("vgpu:sm_80", "kernel.program.check([])")],
)  # fmt: skip
def test_python_ends_while_threads_call_and_compile(device: str, call: str, tmp_path) -> None:
    """A thread that waits for the GIL when Python begins to end was unwound: the process aborted,
    in more than half of the runs of the first case."""
    script = tmp_path / "script.py"
    script.write_text(AT_EXIT.format(device=device, call=call))
    for _ in range(int(os.environ.get("TILEWRIGHT_EXIT_RUNS", "3"))):
        run = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
        assert (run.returncode, run.stdout, run.stderr) == (0, "done\n", "")
