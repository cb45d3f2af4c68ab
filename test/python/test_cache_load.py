"""Many processes and threads share a cache directory whose entries are torn, removed and replaced,
on a disk that fills up, while processes are killed: every result is right, nothing crashes, and
what is left is a cache that works."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

#: A program of many threads, each of which compiles kernels and checks what they compute until a
#: file named "stop" appears. It adds a letter to the file "calls" for each, "f" if the code was
#: found in the cache.
WORKER = """
import os, random, sys, threading
import numpy as np
import tilewright
import tilewright.language as T


def scale(n, device):
    @T.prim_func
    def main(A: T.Tensor((128, 64), "float32"), B: T.Tensor((128, 64), "float32")):
        with T.Kernel(4, threads=64) as block:
            tile = T.alloc_shared((32, 64), "float32")
            T.copy(A[block * 32, 0], tile)
            for i, j in T.Parallel(32, 64):
                B[block * 32 + i, j] = tile[i, j] * n + 1

    return main, lambda a: a * np.float32(n) + 1


def product(n, device):
    dtype = "bfloat16" if n % 2 else "float32"

    @T.prim_func
    def main(A: T.Tensor((128, 64), "float32"), B: T.Tensor((128, 64), "float32")):
        with T.Kernel(4, threads=64) as block:
            a = T.alloc_shared((32, 64), dtype)
            b = T.alloc_shared((64, 64), dtype)
            c = T.alloc_fragment((32, 64), "float32")
            T.copy(A[block * 32, 0], a)
            T.copy(A[0:64, :], b)
            T.fill(c, n)
            T.gemm(a, b, c)
            T.copy(c, B[block * 32, 0])

    return main, lambda a: a @ a[:64] + np.float32(n)


def sums(n, device):
    @T.prim_func
    def main(A: T.Tensor((128, 64), "float32"), B: T.Tensor((128, 64), "float32")):
        with T.Kernel(4, threads=64) as block:
            tile = T.alloc_fragment((32, 64), "float32")
            total = T.alloc_fragment((32,), "float32")
            T.copy(A[block * 32, 0], tile)
            T.reduce_sum(tile, total, dim=1)
            for i, j in T.Parallel(32, 64):
                B[block * 32 + i, j] = total[i] + n

    return main, lambda a: np.repeat(a.sum(1, keepdims=True), 64, 1) + np.float32(n)


def work(seed):
    choose = random.Random(seed)
    a = np.random.default_rng(seed).integers(-3, 4, (128, 64)).astype(np.float32)
    while not os.path.exists("stop"):
        make = choose.choice((scale, product, sums))
        device = choose.choice(("cpu", "cpu", "vgpu:sm_80"))
        main, expect = make(choose.randrange(6), device)
        kernel = tilewright.compile(main, device=device)
        for _ in range(2):
            b = np.zeros_like(a)
            kernel(a, b)
            if not np.array_equal(b, expect(a)):
                print("WRONG", make.__name__, device, file=sys.stderr, flush=True)
                os._exit(7)
        with open("calls", "ab", buffering=0) as file:
            file.write(b"f" if "load" in kernel.seconds else b"c")


seed, numThreads = int(sys.argv[1]), int(sys.argv[2])
threads = [threading.Thread(target=work, args=(seed * 100 + n,)) for n in range(numThreads)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A directory on a disk of its own of 1 MiB; without the right to make one, any directory."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", str(folder)]
    is_own = os.geteuid() == 0 and subprocess.run(command, capture_output=True).returncode == 0
    yield folder
    if is_own:
        subprocess.run(["umount", "-l", str(folder)], check=True)


class Load:
    """Workers on one cache directory, and what disturbs them."""

    def __init__(self, folder: Path, disk: Path, num_processes: int, num_threads: int) -> None:
        self.folder, self.disk, self.cache = folder, disk, disk / "cache"
        self.num_threads = num_threads
        self.random = random.Random(18)
        (folder / "worker.py").write_text(WORKER)
        (folder / "calls").touch()
        self.next_seed = 0
        self.running = [self.start() for _ in range(num_processes)]
        self.killed = 0

    def start(self) -> subprocess.Popen:
        self.next_seed += 1
        return subprocess.Popen(
            [sys.executable, "worker.py", str(self.next_seed), str(self.num_threads)],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TILEWRIGHT_CACHE_DIR": str(self.cache), "TILEWRIGHT_THREADS": "2"},
        )  # fmt: skip

    def count(self) -> int:
        """How many kernels were compiled and called."""
        return (self.folder / "calls").stat().st_size

    def count_found(self) -> int:
        return (self.folder / "calls").read_bytes().count(b"f")

    def disturb(self) -> None:
        """Does something to the directory, or to a worker."""
        entries = [entry for entry in self.cache.glob("*-*") if entry.is_file()]
        kinds = ["tear", "flip", "remove", "link", "pipe", "fill", "empty", "all"]
        kind = self.random.choice(kinds)
        filler = self.disk / "filler"
        try:
            if kind == "fill":
                with filler.open("wb", buffering=0) as file:
                    while file.write(bytes(1 << 14)):
                        if file.tell() > 1 << 21:
                            break  # it is no small disk
            elif kind == "empty":
                filler.unlink(missing_ok=True)
            elif kind == "all" and self.random.random() < 0.1:
                self.cache.rename(self.disk / f"gone-{time.monotonic_ns()}")
            elif entries:
                self.damage(self.random.choice(entries), kind)
        except OSError:
            pass  # a worker was faster, or the disk is full
        for gone in self.disk.glob("gone-*"):
            subprocess.run(["rm", "-rf", str(gone)], check=True)

    def damage(self, entry: Path, kind: str) -> None:
        size = entry.stat().st_size
        if kind == "tear":
            os.truncate(entry, self.random.randrange(size + 1))
        elif kind == "flip":
            with entry.open("r+b") as file:
                file.seek(self.random.randrange(max(size, 1)))
                file.write(bytes([self.random.randrange(256)]))
        else:
            entry.unlink()
            if kind == "link":
                entry.symlink_to("/dev/zero")
            elif kind == "pipe":
                os.mkfifo(entry)

    def kill_one(self) -> None:
        number = self.random.randrange(len(self.running))
        self.running[number].send_signal(signal.SIGKILL)
        self.running[number].communicate()
        self.running[number] = self.start()
        self.killed += 1

    def run(self, most_seconds: float, most_calls: float, calls_to_kill: int) -> None:
        """Until the time is over or so many calls were made; kills a worker every few calls."""
        end = time.monotonic() + most_seconds
        while time.monotonic() < end and self.count() < most_calls:
            time.sleep(0.01)
            self.disturb()
            if self.count() >= (self.killed + 1) * calls_to_kill:
                self.kill_one()
            for process in self.running:
                assert process.poll() is None, process.communicate()

    def finish(self) -> None:
        (self.folder / "stop").touch()
        for process in self.running:
            _, errors = process.communicate(timeout=300)
            assert process.returncode == 0, errors


CHECK = """
import sys
sys.argv = ["worker.py", "0", "0"]
import numpy as np, tilewright, worker
for make in (worker.scale, worker.product, worker.sums):
    main, expect = make(3, "cpu")
    kernel = tilewright.compile(main, device="cpu")
    a = np.ones((128, 64), np.float32)
    b = np.zeros_like(a)
    kernel(a, b)
    assert np.array_equal(b, expect(a))
    print(kernel._kernel.code()["from_cache"])
"""


def load(
    folder: Path, disk: Path, processes: int, threads: int,
    most_seconds: float, most_calls: float, calls_to_kill: int,
) -> Load:  # fmt: skip
    """A load of some seconds; then the cache is whole or heals, and is used."""
    everything = Load(folder, disk, processes, threads)
    try:
        everything.run(most_seconds, most_calls, calls_to_kill)
        everything.finish()
    finally:
        for process in everything.running:
            process.kill()
            process.wait()
    (disk / "filler").unlink(missing_ok=True)
    for attempt in range(3):  # a symbolic link or a pipe in place of an entry is not ours to remove
        for entry in everything.cache.glob("*-*"):
            if not entry.is_file() or entry.is_symlink():
                entry.unlink()
        done = subprocess.run(
            [sys.executable, "-c", CHECK], cwd=folder, capture_output=True, text=True, timeout=300,
            env={**os.environ, "TILEWRIGHT_CACHE_DIR": str(everything.cache)},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found = [line for line in done.stdout.split() if line in ("True", "False")]
        assert len(found) == 3
        if attempt:
            assert found == ["True"] * 3, "what the run before stored is not found"
    return everything


def test_a_cache_that_is_disturbed(tmp_path: Path, small_disk: Path) -> None:
    done = load(tmp_path, small_disk, 2, 4, most_seconds=120, most_calls=60, calls_to_kill=20)
    assert done.count() >= 60
    assert done.killed >= 2


@pytest.mark.slow
def test_a_cache_that_is_disturbed_for_ten_minutes(tmp_path: Path, small_disk: Path) -> None:
    done = load(
        tmp_path, small_disk, 8, 8, most_seconds=600, most_calls=float("inf"), calls_to_kill=100
    )
    print(f"{done.count()} kernels, {done.count_found()} found on disk, {done.killed} killed")
    assert done.count() > 1000
    assert done.count_found() > 0
    assert done.killed > 5
