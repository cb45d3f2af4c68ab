"""Tuning: which configuration of a kernel is the fastest here, with TileLang's names.

    @tilelang.autotune(configs=[{"block": 64}, {"block": 128}])
    @tilelang.jit(out_idx=[-1])
    def matmul(M, N, K, block=64): ...

    kernel = matmul(1024, 1024, 1024)      # compiles all, times all, gives the fastest
    kernel.config, kernel.latency

Candidates are compiled in parallel and timed one after another; the result is kept on disk with the
compiled code, under a key made of the traced programs of all candidates. See docs/tuning.md.
"""

from __future__ import annotations

from tilewright.runtime.tuner.capture import (
    get_autotune_executor,
    get_autotune_inputs,
    set_autotune_executor,
    set_autotune_inputs,
)
from tilewright.runtime.tuner.decorator import autotune
from tilewright.runtime.tuner.trials import Outcome, ProfileArgs
from tilewright.runtime.tuner.tuner import AutoTuner, AutotuneResult, CompileArgs

__all__ = [
    "AutoTuner",
    "AutotuneResult",
    "CompileArgs",
    "Outcome",
    "ProfileArgs",
    "autotune",
    "get_autotune_executor",
    "get_autotune_inputs",
    "set_autotune_executor",
    "set_autotune_inputs",
]
