"""Tests in child processes: crashes, hangs and memory that runs out are failures of their own."""

from __future__ import annotations

import os
import resource
import select
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass

from mutants.items import Item

MEMORY = 6 << 30
#: A test that waits gets this, and ten times its processor time.
WAIT_SECONDS = 30.0


@dataclass(frozen=True)
class Seen:
    """How a run of tests ended: the number of tests that passed, and what the next one did:
    "failed", "crashed", "hung", or nothing."""

    passed: int
    how: str
    seconds: float


def processor_seconds(group: int) -> float:
    """Of the living processes of a group (`man 5 proc`)."""
    total = 0
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == group:
                total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def run_in_child(items: Sequence[Item], limits: Sequence[float]) -> Seen:
    """Runs tests one after another until one does not pass. `limits`: the processor time of each;
    one that waits gets longer."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _work(items, writer)
    os.close(writer)
    try:
        passed, how = _watch(child, reader, limits)
    finally:
        try:
            os.killpg(child, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(child, 0)
        os.close(reader)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Seen(passed, how, seconds)


def _work(items: Sequence[Item], writer: int) -> None:
    """In the child: a letter for each test, "p" or "f"."""
    status = 1
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        for item in items:
            passed = False
            try:
                passed = item.run()
            except BaseException:
                passed = False
            os.write(writer, b"p" if passed else b"f")
            if not passed:
                break
        status = 0
    finally:
        os._exit(status)


def _watch(child: int, reader: int, limits: Sequence[float]) -> tuple[int, str]:
    passed = 0
    while passed < len(limits):
        begin, used = time.monotonic(), processor_seconds(child)
        while True:
            ready, _, _ = select.select([reader], [], [], 1.0)
            if ready:
                break
            now = processor_seconds(child) - used
            patience = WAIT_SECONDS + 10 * limits[passed]
            if now > limits[passed] or time.monotonic() - begin > patience:
                return passed, "hung"
        letter = os.read(reader, 1)
        if letter == b"f":
            return passed, "failed"
        if letter != b"p":
            return passed, "crashed"
        passed += 1
    return passed, ""
