"""How the speed of kernels and of libraries is taken so that the two can be compared.

Two ways: on one thread by processor time, which a busy machine does not stretch, and on all threads
by the wall clock, which only means something on a quiet one. Ours and the peers take turns in one
process. The threads of a BLAS or of OpenMP spin for a while after their work is done (those of
OpenBLAS for 26 ms), on the core that the next one needs: a turn starts when the process has come
to rest.
"""

from __future__ import annotations

import ctypes
import os
import re
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

Action = Callable[[], object]

ALL_THREADS = os.cpu_count() or 1
THREAD_COUNTS = tuple(sorted({1, ALL_THREADS}))
ROUNDS = 7
TURN_SECONDS = 0.02  # a turn repeats its action for at least that long
LONGEST_TICK = 0.01
ATTEMPTS = 3
STEADY = 0.8  # a peer whose median is below this part of its best was disturbed

try:
    import torch
except ImportError:
    torch = None


@dataclass(frozen=True)
class Timing:
    """What the turns of one action took, in seconds a call."""

    median: float
    best: float

    @property
    def is_steady(self) -> bool:
        return self.best >= STEADY * self.median


def openblas_setters() -> Iterator[Callable[[int], None]]:
    """The functions of all loaded OpenBLAS libraries that set their number of threads."""
    maps = Path("/proc/self/maps").read_text()
    for path in sorted(set(re.findall(r"/\S*openblas\S*\.so\S*", maps))):
        library = ctypes.CDLL(path)
        for name in ("scipy_openblas_set_num_threads64_", "openblas_set_num_threads"):
            if hasattr(library, name):
                yield getattr(library, name)
                break


def use_threads(count: int) -> None:
    """Lets Tilewright, numpy and torch use that many threads from now on."""
    os.environ["TILEWRIGHT_THREADS"] = str(count)
    for setter in openblas_setters():
        setter(count)
    if torch:
        torch.set_num_threads(count)


def come_to_rest() -> None:
    """Waits until no thread of this process works, at most half a second.

    The kernel books the time of a thread that runs without a break at its ticks only; there
    may be 100 of them a second: a shorter look does not see a thread that spins.
    """
    for _ in range(25):
        before = time.process_time()
        time.sleep(2 * LONGEST_TICK)
        if time.process_time() - before < LONGEST_TICK / 5:
            return


def take_turns(actions: dict[str, Action], clock: Callable[[], float]) -> dict[str, Timing]:
    """Each action's times, in turns."""
    repeats = {}
    for name, action in actions.items():
        action()
        start = time.perf_counter()
        action()
        repeats[name] = max(1, round(TURN_SECONDS / (time.perf_counter() - start)))
    samples: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(ROUNDS):
        for name, action in actions.items():
            come_to_rest()
            action()  # wakes threads and warms caches
            start = clock()
            for _ in range(repeats[name]):
                action()
            samples[name].append((clock() - start) / repeats[name])
    return {name: Timing(statistics.median(s), min(s)) for name, s in samples.items()}


@dataclass(frozen=True)
class Comparison:
    """Ours and each peer on some threads; `is_valid` says that no peer was disturbed."""

    timings: dict[str, Timing]
    is_valid: bool

    @property
    def ours(self) -> float:
        return self.timings["ours"].median

    def best_peer(self) -> tuple[str, float] | None:
        """The fastest peer and its median time."""
        peers = {name: t.median for name, t in self.timings.items() if name != "ours"}
        return min(peers.items(), key=lambda item: item[1]) if peers else None


def compare(ours: Action, peers: dict[str, Action], threads: int) -> Comparison:
    """Times ours against the peers, again where a peer was disturbed."""
    use_threads(threads)
    clock = time.process_time if threads == 1 else time.perf_counter
    best: dict[str, float] = {}
    for _ in range(ATTEMPTS):
        timings = take_turns({"ours": ours, **peers}, clock)
        for name, timing in timings.items():
            best[name] = min(best.get(name, timing.best), timing.best)
        is_valid = all(best[name] >= STEADY * timings[name].median for name in peers)
        if is_valid:
            break
    return Comparison(timings, is_valid)
