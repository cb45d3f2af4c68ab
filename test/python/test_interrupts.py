"""Ctrl-C ends a launch wherever it runs, also inside one long statement."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tilewright
import tilewright.language as T


def interrupted_after(seconds: float, run: Callable[[], object]) -> float:
    """How long `run` takes until the signal that comes after `seconds` ends it."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    start = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run()
    return time.perf_counter() - start


@pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80"])
@pytest.mark.parametrize("blocks", [1, 3])
def test_a_loop_without_end(device: str, blocks: int) -> None:
    @T.prim_func
    def main(A: T.Tensor((1,), "int32"), B: T.Tensor((24,), "int32")):
        with T.Kernel(blocks, threads=32) as bx:
            while A[0] == 0:
                for i in T.Parallel(8):
                    B[bx * 8 + i] += 1  # the same state twice would be a finding

    kernel = tilewright.compile(main, device=device)
    a, b = np.zeros(1, np.int32), np.zeros(24, np.int32)
    assert interrupted_after(0.5, lambda: kernel(a, b)) < 30
    kernel(np.ones(1, np.int32), b)  # the next call is as any other


@pytest.mark.parametrize("shape", ["constant", "run-time", "two dimensions"])
def test_one_long_parallel_loop_on_the_cpu(shape: str) -> None:
    @T.prim_func
    def constant(B: T.Tensor((8,), "int32"), n: T.int64):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(1 << 36):
                B[i % 8] = 7

    @T.prim_func
    def run_time(B: T.Tensor((8,), "int32"), n: T.int64):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(n):
                B[i % 8] = 7

    @T.prim_func
    def two_dimensions(B: T.Tensor((8,), "int32"), n: T.int64):
        with T.Kernel(1, threads=32):
            for i, j in T.Parallel(n, n):
                B[(i + j) % 8] = 7

    main = {"constant": constant, "run-time": run_time}.get(shape, two_dimensions)
    kernel = tilewright.compile(main, device="cpu")
    b = np.zeros(8, np.int32)
    long = 1 << (22 if shape == "two dimensions" else 44)
    assert interrupted_after(0.5, lambda: kernel(b, long)) < 30
    assert b.tolist() == [7] * 8
    if shape != "constant":
        b[:] = 0
        kernel(b, 9)  # a short one runs to its end
        assert b.tolist() == [7] * 8


def make_long(kind: str):
    """A program of a long loop of each kind; those of `n` turns end soon where n is small."""

    @T.prim_func
    def parallel_inside(A: T.Tensor((64,), "float32"), n: T.int64, blocks: T.int32):
        with T.Kernel(blocks, threads=32):
            s = T.alloc_fragment((64,), "float32")
            T.clear(s)
            for _ in T.serial(n):
                for i in T.Parallel(64):
                    s[i] = T.sin(s[i] * 0.5) + A[i]

    @T.prim_func
    def pipelined(A: T.Tensor((64,), "float32"), n: T.int64, blocks: T.int32):
        with T.Kernel(blocks, threads=32):
            for _ in T.Pipelined(n, num_stages=2):
                for i in T.Parallel(64):
                    A[i] = T.sin(A[i])

    @T.prim_func
    def scalar(A: T.Tensor((64,), "float32"), n: T.int64, blocks: T.int32):
        with T.Kernel(blocks, threads=32):
            x = T.alloc_var("float32")
            x = 0.0
            for _ in T.serial(n):
                x = T.sin(x) + 1.0
            A[0] = x

    @T.prim_func
    def nested(A: T.Tensor((64,), "float32"), n: T.int64, blocks: T.int32):
        with T.Kernel(blocks, threads=32):
            for i in T.serial(1000):
                for j in T.serial(1000):
                    for k in T.serial(1000):
                        A[(i + j + k) % 64] = T.sin(T.cast(k, "float32"))

    @T.prim_func
    def inside_parallel(A: T.Tensor((64,), "float32"), n: T.int64, blocks: T.int32):
        with T.Kernel(blocks, threads=32):
            for i in T.Parallel(64):
                x = T.alloc_var("float32")
                x = 0.0
                for _ in T.serial(n):
                    x = x * 0.5 + T.sin(x)
                A[i] = x

    @T.prim_func
    def while_in_parallel(A: T.Tensor((64,), "float32"), n: T.int64, blocks: T.int32):
        with T.Kernel(blocks, threads=32):
            for i in T.Parallel(64):
                x = T.alloc_var("float32")
                x = 0.0
                while x < 3.0:
                    x = T.sin(x)
                A[i] = x

    return locals()[kind]


@pytest.mark.parametrize(
    "kind",
    ["parallel_inside", "pipelined", "scalar", "nested", "inside_parallel", "while_in_parallel"],
)
def test_every_kind_of_long_loop_on_the_cpu(kind: str) -> None:
    """Only loops over statements on whole tiles could be stopped."""
    kernel = tilewright.compile(make_long(kind), device="cpu")
    assert interrupted_after(0.3, lambda: kernel(np.ones(64, np.float32), 1 << 44, 3)) < 5


def test_many_blocks_that_end_soon(monkeypatch) -> None:
    """A worker took thousands of blocks before it looked up: here minutes."""
    monkeypatch.setenv("TILEWRIGHT_THREADS", "1")
    kernel = tilewright.compile(make_long("parallel_inside"), device="cpu")
    assert interrupted_after(0.3, lambda: kernel(np.ones(64, np.float32), 20_000, 1 << 20)) < 5


AT_EXIT = """
import sys, threading, time
sys.path.insert(0, {directory!r})
import numpy as np, tilewright
from test_interrupts import make_long
kernel = tilewright.compile(make_long({kind!r}), device={device!r})
a = np.ones(64, np.float32)
threading.Thread(target=lambda: kernel(a, 1 << 44, 1), daemon=True).start()
time.sleep(0.3)
print("done")
"""


@pytest.mark.parametrize("device", ["cpu", "interp"])
def test_python_ends_while_a_kernel_runs(device: str) -> None:
    """The thread asked for the GIL while Python ended, was unwound, and the process aborted."""
    kind = "scalar" if device == "cpu" else "nested"
    script = AT_EXIT.format(directory=str(Path(__file__).parent), kind=kind, device=device)
    environment = {**os.environ, "TILEWRIGHT_THREADS": "1"}
    for _ in range(3):
        run = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, env=environment
        )
        assert (run.returncode, run.stdout, run.stderr) == (0, "done\n", "")


AT_THE_VERY_END = """
import os, sys
import numpy as np
import tilewright, tilewright.language as T

@T.prim_func
def main(A: T.Tensor((256,), "float32"), B: T.Tensor((256,), "float32")):
    with T.Kernel(4, threads=64) as bx:
        for i in T.Parallel(64):
            B[bx * 64 + i] = A[bx * 64 + i] * 2.0

def call():
    b = np.zeros(256, np.float32)
    kernel(a, b)
    assert (b == 2).all()

class Held:
    def __del__(self):
        call()
        os.write(1, b"called")

a = np.ones(256, np.float32)
kernel = tilewright.compile(main, device="cpu")
held = Held()
call()
"""


def test_a_module_that_calls_a_kernel_as_it_is_torn_down(tmp_path: Path) -> None:
    """The thread that ends Python waited for ever for the lock that it had given away."""
    script = tmp_path / "end.py"
    script.write_text(AT_THE_VERY_END)
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "called", "")


# ---- Compilations ----

LARGE = """
import os, signal, sys, threading, time
import numpy as np
import tilewright
import tilewright.language as T

tilewright.disable_cache()


def total(source, i, j, count):
    value = source[i, j]
    for k in range(1, count):
        value = value + source[i, j + k % 2000]
    return value


def make(count):
    @T.prim_func
    def main(A: T.Tensor((64, 2064), "float32"), B: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            for i, j in T.Parallel(64, 64):
                B[i, j] = total(A, i, j, count)  # the statement

    return main
"""


def run_script(folder: Path, text: str, **variables: str) -> subprocess.CompletedProcess:
    script = folder / "large.py"
    script.write_text(LARGE + text)
    return subprocess.run(
        [sys.executable, script],
        capture_output=True, text=True, timeout=300, env={**os.environ, **variables},
    )  # fmt: skip


@pytest.mark.parametrize("device", ["cpu", "vgpu:sm_80"])
def test_ctrl_c_ends_a_compilation(device: str, tmp_path: Path) -> None:
    """It takes seconds; another kernel compiles and runs at once
    afterwards, and the same program can be compiled again."""
    done = run_script(
        tmp_path,
        f"""
main = make(16000)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    tilewright.compile(main, device={device!r})
    sys.exit("it was compiled")
except KeyboardInterrupt:
    pass
start = time.perf_counter()
kernel = tilewright.compile(make(3), device={device!r})
a, b = np.ones((64, 2064), np.float32), np.zeros((64, 64), np.float32)
kernel(a, b)
assert (b == 3).all()
assert time.perf_counter() - start < 30, "the abandoned compilation holds a lock"
os._exit(0)
""",
    )
    assert done.returncode == 0, done.stderr


def test_a_time_limit_names_the_largest_statement(tmp_path: Path) -> None:
    done = run_script(
        tmp_path,
        """
try:
    tilewright.compile(make(16000), device="vgpu:sm_80")
except tilewright.errors.TilewrightError as error:
    print(error, flush=True)
    os._exit(0)
os._exit(1)
""",
        TILEWRIGHT_COMPILE_SECONDS="1",
    )
    assert done.returncode == 0, done.stderr
    assert "'main': compiling it for " in done.stdout
    assert "took more than 1 s; its largest statement, with " in done.stdout
    assert "TILEWRIGHT_COMPILE_SECONDS" in done.stdout


@pytest.mark.parametrize("device", ["cpu", "vgpu:sm_80"])
def test_ctrl_c_ends_the_wait_for_another_threads_compilation(device: str, tmp_path: Path) -> None:
    done = run_script(
        tmp_path,
        f"""
main = make(16000)
started = threading.Event()
def compile_first():
    started.set()
    tilewright.compile(main, device={device!r})
threading.Thread(target=compile_first, daemon=True).start()
started.wait()
time.sleep(0.2)
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.perf_counter()
try:
    tilewright.compile(main, device={device!r})
    os._exit(2)
except KeyboardInterrupt:
    pass
assert time.perf_counter() - start < 5, time.perf_counter() - start
os._exit(0)
""",
    )
    assert done.returncode == 0, done.stderr
