"""Python to verified tile IR: the seed kernel in a warm process, against the design's budget."""

from __future__ import annotations

import os
import runpy
from collections.abc import Iterator

from figures import ROOT, Figure, median_seconds

BUDGET_SECONDS = 0.015
SEED = ROOT / "examples" / "seed" / "flash_attention_backward.py"
SIZES = {"batch": 1, "heads": 4, "seq_len": 128, "dim": 64, "groups": 2}


def load_seed():
    """The unmodified seed script's `flashattn_bwd`, with `import tilelang` giving Tilewright."""
    from tilewright.compat import imports

    imports.install()
    os.environ.setdefault("TILEWRIGHT_ARCH", "sm_80")
    return runpy.run_path(str(SEED))["flashattn_bwd"]


def figures() -> Iterator[Figure]:
    os.environ["TILEWRIGHT_DEVICE"] = "interp"  # it compiles nothing
    flashattn_bwd = load_seed()
    # Sizes differ in each round, so that nothing can come from a cache of compiled kernels.
    count = iter(range(1, 1000))

    def trace() -> None:
        flashattn_bwd(**{**SIZES, "batch": next(count)})

    seconds = median_seconds(trace, rounds=21, warm_up=5)
    yield Figure(
        "seed kernel: Python to verified tile IR", seconds * 1e3, "ms", "the budget",
        BUDGET_SECONDS * 1e3,
    )  # fmt: skip
    alive = [flashattn_bwd(**{**SIZES, "batch": next(count)}) for _ in range(500)]
    crowded = median_seconds(trace, rounds=21, warm_up=5)
    yield Figure(
        f"the same with {len(alive)} kernels alive", crowded * 1e3, "ms", "without them",
        seconds * 1e3,
    )  # fmt: skip
