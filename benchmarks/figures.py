"""What a benchmark yields, and how it takes time."""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Figure:
    """One number, and what it is compared with."""

    name: str
    value: float | None
    unit: str
    against: str = ""  # what the baseline is: "tilelang", "the budget", "numpy"
    baseline: float | None = None
    more_is_better: bool = False
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times better than the baseline; below 1 it is worse."""
        if not self.value or not self.baseline:
            return None
        return self.value / self.baseline if self.more_is_better else self.baseline / self.value


def child_seconds() -> float:
    """Processor time of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def median_seconds(
    action: Callable[[], object],
    rounds: int = 9,
    warm_up: int = 2,
    clock: Callable[[], float] = time.process_time,
) -> float:
    """The median time of `action` in a warm process: processor time, which a busy machine does not
    stretch."""
    for _ in range(warm_up):
        action()
    times = []
    for _ in range(rounds):
        start = clock()
        action()
        times.append(clock() - start)
    return statistics.median(times)
