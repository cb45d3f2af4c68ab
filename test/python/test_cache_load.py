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

PROGRAMS = Path(__file__).parent.parent / "programs"
#: A program of many threads, each of which compiles kernels of the corpus and checks what they
#: compute until a file named "stop" appears. It adds a letter to the file "calls" for each, "f" if
#: the code was found in the cache.
WORKER = """
import os, random, sys, threading

seed, numThreads = int(sys.argv[1]), int(sys.argv[2])
os.environ["TILEWRIGHT_DEVICE"] = "vgpu:sm_80" if seed % 4 == 0 else "cpu"
sys.path.insert(0, sys.argv[3])
from tilewright.compat import imports

imports.install()
import test_corpus


def is_used(path):
    text = path.read_text()
    return 'EXPECT = "ok"' in text and '"sm_80"' in text and "LARGE" not in text


PATHS = [path for path in sorted(test_corpus.CORPUS.glob("*.py")) if is_used(path)]


def compile_and_check(path):
    module = test_corpus.load(path)
    kernel = module.kernel()
    for _ in range(2):
        test_corpus.check_values(module, test_corpus.run(module, kernel))
    return getattr(kernel, "seconds", {})


def work(seed):
    choose = random.Random(seed)
    while not os.path.exists("stop"):
        path = choose.choice(PATHS)
        try:
            seconds = compile_and_check(path)
        except BaseException as error:
            print("WRONG", path.stem, repr(error), file=sys.stderr, flush=True)
            os._exit(7)
        with open("calls", "ab", buffering=0) as file:
            file.write(b"f" if "load" in seconds else b"c")


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
            [sys.executable, "worker.py", str(self.next_seed), str(self.num_threads), PROGRAMS],
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


#: Compiles the first three kernels of the corpus, and prints whether each was found.
CHECK = """
import sys
sys.argv = ["worker.py", "1", "0", *sys.argv[1:]]
import worker
for path in worker.PATHS[:3]:
    print("load" in worker.compile_and_check(path))
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
            [sys.executable, "-c", CHECK, PROGRAMS], cwd=folder, capture_output=True, text=True,
            env={**os.environ, "TILEWRIGHT_CACHE_DIR": str(everything.cache)}, timeout=300,
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
