"""What became of a case: which kernels ran, and whether results were compared."""

from __future__ import annotations

import linecache
import sys
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy
import torch
from failures import describe_failure

#: Functions by which libraries compare results.
_COMPARISONS = (
    (torch.testing, "assert_close"), (torch, "allclose"), (torch, "equal"), (torch, "isclose"),
    (torch.Tensor, "allclose"), (torch.Tensor, "equal"), (numpy.testing, "assert_allclose"),
    (numpy.testing, "assert_array_equal"), (numpy, "allclose"), (numpy, "array_equal"),
    (torch, "eq"), (torch.Tensor, "__eq__"), (torch.Tensor, "item"),
)  # fmt: skip

#: The architectures that kernels are compiled for besides the CPU, and how many of a case are.
ARCHES = ("sm_80", "sm_90a")
_MOST_KERNELS = 4


class Watcher:
    """Counts what happens to kernels and results in this process."""

    def __init__(self) -> None:
        self.launches = self.compiled = self.compared = 0
        self.kernels: list[Any] = []
        self.seconds: dict[int, float] = {}  # of the processor, for each kernel's compilation
        from tilewright.runtime import kernel

        kernel.listeners.append(self._listen)
        kernel.JITKernel._compile = self._timing(kernel.JITKernel._compile)
        for owner, name in _COMPARISONS:
            if hasattr(owner, name):
                setattr(owner, name, self._counting(getattr(owner, name)))
        torch.Tensor.__bool__ = self._counting_assertions(torch.Tensor.__bool__)

    def _listen(self, event: str, kernel: Any) -> None:
        if event == "compiled":
            self.compiled += 1
            self.kernels.append(kernel)
        else:
            self.launches += 1

    def run_nothing(self) -> None:
        """Lets calls of kernels check their arguments and return."""
        from tilewright.runtime import kernel

        kernel.skipped_calls = {}

    def compile_times(self) -> list[list[Any]]:
        """Of each kernel that was compiled, and not loaded from the cache: name and seconds."""
        return [[k.name, round(self.seconds[id(k)], 3)] for k in self._sample("compile")]

    def _sample(self, phase: str) -> list[Any]:
        """The kernels that took longest in a phase."""
        timed = [kernel for kernel in self.kernels if phase in kernel.seconds]
        return sorted(timed, key=lambda kernel: -kernel.seconds[phase])[:_MOST_KERNELS]

    def compile_for_gpus(self) -> list[dict[str, Any]]:
        """What became of the case's kernels, the slowest ones, on the way to PTX."""
        done = []
        for kernel in self._sample("compile") or self.kernels[:_MOST_KERNELS]:
            for arch in ARCHES:
                outcome: dict[str, Any] = {"kernel": kernel.name, "arch": arch}
                start = time.process_time()
                try:
                    kernel.ir("ptx", arch)
                    outcome["status"] = "compiled"
                except Exception as error:
                    outcome |= describe_failure(error, "")
                outcome["seconds"] = round(time.process_time() - start, 3)
                done.append(outcome)
        return done

    def _timing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Seconds of the processor, of all threads: a busy machine does not change them."""

        @wraps(function)
        def compile_and_note(kernel: Any) -> None:
            start = time.process_time()
            function(kernel)
            self.seconds[id(kernel)] = time.process_time() - start

        return compile_and_note

    def _counting(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            self.compared += self.launches > 0
            return function(*args, **kwargs)

        return call

    def _counting_assertions(self, truth: Callable[..., bool]) -> Callable[..., bool]:
        """`assert difference < 1e-8` compares, too, where the difference is a tensor."""

        def call(tensor: Any) -> bool:
            frame = sys._getframe(1)
            line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
            self.compared += self.launches > 0 and line.lstrip().startswith("assert")
            return truth(tensor)

        return call

    def record(self, reports: list[Any], failures: list[dict[str, Any]]) -> dict[str, Any]:
        """The record of a test with these reports; `failures` says what its phases raised."""
        record: dict[str, Any] = {
            "launches": self.launches, "compiled": self.compiled, "compared": self.compared,
            "compile_times": self.compile_times(),
        }  # fmt: skip
        if failures:
            record |= failures[0]
            is_ours = record["status"] in ("refused", "crash")
            if not (is_ours or self.launches or self.compiled):
                record["status"] = "no kernel"
        elif any(report.outcome == "skipped" for report in reports):
            skipped = next(report for report in reports if report.outcome == "skipped")
            record |= {"status": "skipped", "what": str(skipped.longrepr)[-200:]}
        elif not self.launches:
            record["status"] = "no kernel"
        else:
            record["status"] = "right" if self.compared else "not compared"
        return record
