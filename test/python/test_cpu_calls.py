"""Calls of compiled kernels: what is remembered of them, and what can go wrong around them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import tilewright
import tilewright.language as T


def doubler(n=None, dtype: str = "float32"):
    """B = A * 2, compiled for the CPU."""
    n = T.dynamic("n") if n is None else n

    @T.prim_func
    def main(A: T.Tensor((n,), dtype), B: T.Tensor((n,), dtype)):
        with T.Kernel(T.ceildiv(n, 32), threads=32) as block:
            for i in T.Parallel(32):
                B[block * 32 + i] = A[block * 32 + i] * 2

    return tilewright.compile(main, device="cpu")


def test_only_tensors_that_are_written_need_careful_code(tmp_path, monkeypatch) -> None:
    """One tensor for two parameters that are only read is no overlap, as K and V of attention."""
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path))

    @T.prim_func
    def main(A: T.Tensor((32,), "int32"), B: T.Tensor((32,), "int32"), C: T.Tensor((32,), "int32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(32):
                C[i] = A[i] + B[i] * 2

    kernel = tilewright.compile(main, device="cpu")
    a, c = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)

    def count_compiled() -> int:
        return len(list(tmp_path.glob("cpu-*")))

    kernel(a, a.copy(), c)
    before = count_compiled()
    kernel(a, a, c)
    assert c.tolist() == [3 * i for i in range(32)]
    assert count_compiled() == before
    kernel(a, a, a)
    assert a.tolist() == [3 * i for i in range(32)]
    assert count_compiled() == before + 1


# ---- What a second call may not take for granted ----


def test_each_call_is_checked_although_an_equal_one_was_before() -> None:
    kernel = doubler(4)
    a, b = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    for _ in range(3):
        kernel(a, b)
    assert b.tolist() == [0, 2, 4, 6]
    refused = {
        "expected dtype float32, got float64": np.zeros(4),
        "expected shape": np.zeros(5, np.float32),
        "expected rank 1": np.zeros((2, 2), np.float32),
        "expected a contiguous": np.zeros(8, np.float32)[::2],
        "not in native order": np.zeros(4, ">f4"),
        "expected a tensor": 3.0,
    }
    for message, wrong in refused.items():
        with pytest.raises(tilewright.TilewrightError, match=message):
            kernel(a, wrong)
        with pytest.raises(tilewright.TilewrightError, match=message):
            kernel(wrong, b)
    with pytest.raises(tilewright.TilewrightError, match="takes 2 arguments"):
        kernel(a)
    with pytest.raises(tilewright.TilewrightError, match="takes 2 arguments"):
        kernel(a, b, b)


def test_read_only_arrays_may_be_read_and_not_written() -> None:
    kernel = doubler(4)
    a, b = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    kernel(a, b)
    fixed = np.ones(4, np.float32)
    fixed.flags.writeable = False
    kernel(fixed, b)
    assert b.tolist() == [2, 2, 2, 2]
    for _ in range(2):
        with pytest.raises(tilewright.TilewrightError, match="'B': the kernel writes it, got a re"):
            kernel(a, fixed)
    assert fixed.tolist() == [1, 1, 1, 1]


def test_misaligned_data_is_refused() -> None:
    kernel = doubler(4)
    a, b = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    kernel(a, b)
    odd = np.zeros(17, np.uint8)[1:].view(np.float32)
    for _ in range(2):
        with pytest.raises(tilewright.TilewrightError, match="'B': its data is not aligned to the"):
            kernel(a, odd)


def test_empty_tensors_are_right() -> None:
    kernel = doubler()
    empty = np.zeros(0, np.float32)
    for _ in range(3):
        kernel(empty, np.zeros(0, np.float32))
    a, b = np.arange(3, dtype=np.float32), np.zeros(3, np.float32)
    kernel(a, b)
    assert b.tolist() == [0, 2, 4]


def test_sizes_take_turns() -> None:
    kernel = doubler()
    for size in [*range(1, 20), *range(1, 20)]:
        a, b = np.arange(size, dtype=np.float32), np.zeros(size, np.float32)
        kernel(a, b)
        np.testing.assert_array_equal(b, 2 * a)


def test_overlap_after_calls_without() -> None:
    @T.prim_func
    def shift(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            for i in T.serial(63):
                B[i + 1] = A[i] + 1.0

    kernel = tilewright.compile(shift, device="cpu")
    apart = np.zeros(64, np.float32)
    for _ in range(2):
        kernel(np.zeros(64, np.float32), apart)
    assert apart.max() == 1
    memory = np.zeros(64, np.float32)
    kernel(memory, memory)
    np.testing.assert_array_equal(memory, np.arange(64))


def test_numbers_are_checked_each_time() -> None:
    @T.prim_func
    def main(A: T.Tensor((2,), "float32"), n: T.int8, x: T.float32):
        with T.Kernel(1):
            A[0] = n
            A[1] = x

    kernel = tilewright.compile(main, device="cpu")
    a = np.zeros(2, np.float32)
    others = [
        (np.int64(5), np.float32(6)),
        (np.int64(7), np.float32(8)),
        (np.array(9), np.array(1.5)),
    ]
    for n, x in [(1, 1.5), (2, 2.5), (-128, 3), (True, 4.0), *others, *others[::-1], (3, 3.5)]:
        kernel(a, n, x)
        assert a.tolist() == [n, x]
    with pytest.raises(tilewright.TilewrightError, match="the number 128 does not fit int8"):
        kernel(a, 128, 1.0)
    with pytest.raises(tilewright.TilewrightError, match="'n': expected int8, got a float"):
        kernel(a, 1.0, 1.0)


@pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80"])
def test_unsigned_numbers_of_64_bits(device: str) -> None:
    """Numbers from 2^63 on were refused, and -1 was taken for the largest."""

    @T.prim_func
    def main(A: T.Tensor((2,), "uint64"), n: T.uint64, x: T.float64):
        with T.Kernel(1):
            A[0] = n
            A[1] = n // T.uint64(10)

    kernel = tilewright.compile(main, device=device)
    a = np.zeros(2, np.uint64)
    for n in (3, 2**63 - 1, 2**63, 2**64 - 1, np.uint64(2**64 - 2)):
        kernel(a, n, 2**63)
        assert a.tolist() == [n, int(n) // 10]
    with pytest.raises(tilewright.TilewrightError, match="the number -1 does not fit uint64"):
        kernel(a, -1, 1.0)
    with pytest.raises(tilewright.TilewrightError, match="does not fit 64 bits"):
        kernel(a, 2**64, 1.0)


def test_returned_arrays_are_new_each_time() -> None:
    @tilewright.jit(out_idx=[-1], device="cpu")
    def make(n):
        @T.prim_func
        def main(A: T.Tensor((n,), "int32"), B: T.Tensor((n,), "int32")):
            with T.Kernel(1):
                for i in T.serial(n):
                    B[i] = A[i] + 1

        return main

    kernel = make(3)
    results = [kernel(np.full(3, k, np.int32)) for k in range(4)]
    assert [r.tolist() for r in results] == [[k + 1] * 3 for k in range(4)]


# ---- Threads, signals, forks ----


@tilewright.jit(device="cpu")
def endless(blocks: int):
    """Turns in a loop until A[0] is not 0, which it never is."""

    @T.prim_func
    def main(A: T.Tensor((1,), "int32"), B: T.Tensor((8,), "int32")):
        with T.Kernel(blocks, threads=32):
            while A[0] == 0:
                for i in T.serial(8):
                    B[i] = 7

    return main


@pytest.mark.parametrize("blocks", [1, 64])
def test_ctrl_c_ends_a_launch(blocks: int) -> None:
    a, b = np.zeros(1, np.int32), np.zeros(8, np.int32)
    pressed = []

    def press() -> None:  # it runs only because the launch lets go of the GIL
        while b[7] == 0:
            time.sleep(0.01)
        pressed.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt):
        endless(blocks)(a, b)
    assert time.perf_counter() - pressed[0] < 10
    assert b.tolist() == [7] * 8
    kernel = doubler(4)
    result = np.zeros(4, np.float32)
    kernel(np.arange(4, dtype=np.float32), result)
    assert result.tolist() == [0, 2, 4, 6]


def test_progress_is_told_and_may_stop_a_launch() -> None:
    seen = []

    def progress(launch: int, done: int, blocks: int) -> None:
        seen.append((launch, done, blocks))
        if len(seen) == 3:
            raise TimeoutError("long enough")

    kernel = endless(16)
    kernel.watch(progress)
    with pytest.raises(TimeoutError, match="long enough"):
        kernel(np.zeros(1, np.int32), np.zeros(8, np.int32))
    assert kernel.watch(None) is progress
    assert seen == [(1, 0, 16)] * 3


def test_other_threads_run_meanwhile() -> None:
    ticks = 0
    a = np.zeros(1, np.int32)

    def release() -> None:
        nonlocal ticks
        for _ in range(50):
            ticks += 1
            time.sleep(0.001)
        a[0] = 1

    thread = threading.Thread(target=release)
    thread.start()
    # The compiled loop reads A again in each turn, because it stores in between.
    kernel = endless(2)
    deadline = time.perf_counter() + 30

    def progress(*_) -> None:
        if a[0] == 1 or time.perf_counter() > deadline:
            raise StopIteration

    kernel.watch(progress)
    with suppress(StopIteration):
        kernel(a, np.zeros(8, np.int32))
    kernel.watch(None)
    thread.join()
    assert ticks == 50


def test_threads_call_one_kernel_at_once() -> None:
    kernel = doubler()
    wrong = []

    def work(seed: int) -> None:
        for size in range(seed, seed + 40):
            a, b = np.full(size, seed, np.float32), np.zeros(size, np.float32)
            kernel(a, b)
            if not (b == 2 * seed).all():
                wrong.append((seed, size))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_fork_in_the_middle_of_a_launch() -> None:
    """The child has none of the parent's threads and still runs kernels, old and new."""
    before = doubler(200)
    before(np.ones(200, np.float32), np.zeros(200, np.float32))
    kernel = endless(64)
    state = {"stop": False}

    def progress(*_) -> None:
        if state["stop"]:
            raise TimeoutError

    def launch() -> None:
        kernel.watch(progress)
        with suppress(TimeoutError):
            kernel(np.zeros(1, np.int32), np.zeros(8, np.int32))
        kernel.watch(None)

    thread = threading.Thread(target=launch)
    thread.start()
    time.sleep(0.2)
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        a, b, c = np.ones(200, np.float32), np.zeros(200, np.float32), np.zeros(300, np.float32)
        before(a, b)
        doubler(300)(np.ones(300, np.float32), c)
        os._exit(0 if (b == 2).all() and (c == 2).all() else 1)
    _, status = os.waitpid(pid, 0)
    state["stop"] = True
    thread.join()
    assert status == 0


# ---- Deterministic sums ----

SUMS = """
import hashlib
import numpy as np
import tilewright
import tilewright.language as T

@T.prim_func
def main(A: T.Tensor((4096, 16), "float32"), B: T.Tensor((16,), "float32"),
         C: T.Tensor((16,), "float32")):
    with T.Kernel(256, threads=32) as block:
        tile = T.alloc_fragment((16, 16), "float32")
        total = T.alloc_fragment((16,), "float32")
        T.copy(A[block * 16, 0], tile)
        T.reduce_sum(tile, total, dim=0)
        T.atomic_add(B, total)
        for i in T.Parallel(16):
            T.atomic_add(C[(block + i) % 16], tile[i, i])

configs = {"tilewright.deterministic": True} if CONFIG else {}
kernel = tilewright.compile(main, device="cpu", pass_configs=configs)
rng = np.random.default_rng(0)
a = (rng.standard_normal((4096, 16)) * 10.0 ** rng.integers(-6, 7, (4096, 16))).astype(np.float32)
for _ in range(3):
    b, c = np.zeros(16, np.float32), np.zeros(16, np.float32)
    kernel(a, b, c)
    print(hashlib.sha256(b.tobytes() + c.tobytes()).hexdigest())
"""


@pytest.mark.parametrize("by", ["environment", "pass_configs"])
def test_deterministic_sums_do_not_depend_on_threads(tmp_path: Path, by: str) -> None:
    script = tmp_path / "sums.py"
    script.write_text(SUMS.replace("CONFIG", str(by == "pass_configs")))
    seen = set()
    for threads in ("1", "2", "3", "8"):
        environment = {**os.environ, "TILEWRIGHT_THREADS": threads}
        if by == "environment":
            environment["TILEWRIGHT_DETERMINISTIC"] = "1"
        command = [sys.executable, str(script)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, env=environment, timeout=120
        )
        seen.update(done.stdout.split())
    assert len(seen) == 1


# ---- The narrower processor ----


def test_avx2_code_has_no_wide_registers_and_the_same_results(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flags = Path("/proc/cpuinfo").read_text()
    if "avx512f" not in flags:
        pytest.skip("this processor has no AVX-512 to leave out")

    def build():
        @T.prim_func
        def main(
            A: T.Tensor((48, 64), "float32"),
            B: T.Tensor((64, 48), "float32"),
            C: T.Tensor((48, 48), "float32"),
        ):
            with T.Kernel(1, threads=128):
                a = T.alloc_shared((48, 64), "float32")
                b = T.alloc_shared((64, 48), "float32")
                c = T.alloc_fragment((48, 48), "float32")
                T.copy(A, a)
                T.copy(B, b)
                T.clear(c)
                T.gemm(a, b, c)
                T.copy(c, C)

        return main

    rng = np.random.default_rng(0)
    a = rng.integers(-4, 5, (48, 64)).astype(np.float32)
    b = rng.integers(-4, 5, (64, 48)).astype(np.float32)
    assembly = {}
    for processor in ("native", "avx2"):
        monkeypatch.delenv("TILEWRIGHT_CPU", raising=False)
        if processor != "native":
            monkeypatch.setenv("TILEWRIGHT_CPU", processor)
        kernel = tilewright.compile(build(), device="cpu")
        c = np.zeros((48, 48), np.float32)
        kernel(a, b, c)
        np.testing.assert_array_equal(c, a @ b)
        assembly[processor] = kernel.program.compile_cpu()["asm"]
    assert "zmm" in assembly["native"]
    assert "zmm" not in assembly["avx2"]
    assert "ymm" in assembly["avx2"]


# ---- Memory ----

HUGE = """
import resource
import numpy as np
import tilewright
import tilewright.language as T

@T.prim_func
def main(A: T.Tensor((4,), "float32")):
    with T.Kernel(4, threads=32):
        tile = T.alloc_shared((200, 1024, 1024), "float64")
        tile[0, 0, 0] = 1.0
        A[0] = tile[0, 0, 0]

kernel = tilewright.compile(main, device="cpu")
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**30, used + 2**30))
a = np.zeros(4, np.float32)
for _ in range(2):
    try:
        kernel(a)
    except tilewright.TilewrightError as error:
        print(error)
"""


def test_tiles_that_do_not_fit_into_memory_are_an_error(tmp_path: Path) -> None:
    script = tmp_path / "huge.py"
    script.write_text(HUGE)
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    size = 1677721600 + 64  # in which a worker notes what its tiles hold
    assert done.stdout.count(f"cannot allocate {size} bytes for the tiles of a block") == 2


def test_what_the_cpu_cannot_compile_is_told_at_its_line() -> None:
    """It was told at the line of the call, with the other line inside the message."""

    @T.prim_func
    def main(A: T.Tensor((16,), "float32")):
        with T.Kernel(1, threads=32):  # of the kernel
            s = T.alloc_shared((3, 1 << 13, 1 << 13), "float64")
            t = T.alloc_shared((3, 1 << 13, 1 << 13), "float64")
            u = T.alloc_shared((3, 1 << 13, 1 << 13), "float64")
            s[0, 0, 0] = 1.0
            t[0, 0, 0] = 1.0
            u[0, 0, 0] = 1.0
            A[0] = s[0, 0, 0] + t[0, 0, 0] + u[0, 0, 0]

    with pytest.raises(tilewright.TilewrightError, match="the tiles of a block take") as caught:
        tilewright.compile(main, device="cpu")
    lines = Path(__file__).read_text().splitlines()
    assert lines[caught.value.location.line - 1].endswith("# of the kernel")
    assert str(caught.value).count("error: ") == 1
