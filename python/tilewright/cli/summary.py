"""The summary that `tw run` prints: kernels, grids, tiles, times."""

from __future__ import annotations

import sys
import time
from typing import Any


def _say(text: str) -> None:
    """Where it does not mix with the script's own output."""
    sys.stderr.write(f"{text}\n")


def print_summary(session: Any) -> None:
    """Prints tables on a terminal, plain lines elsewhere; remarks and tiles with `-v`."""
    total = time.perf_counter() - session.started
    if not session.kernels:
        _say("no kernel was compiled")
        return
    for kernel in session.kernels:
        _print_kernel(kernel, session)
    _say(f"total {_time(total)}")


def _print_kernel(kernel: Any, session: Any) -> None:
    summary = kernel.summary()
    location = kernel.prim_func.location
    from tilewright.support.errors import shorten

    where = f"{shorten(location.file)}:{location.line}"
    _say(f"kernel '{kernel.name}' ({where}) on {kernel.placement.device}")
    verbose = session.options.verbose
    for remark in kernel.remarks if verbose else ():
        _say(f"  line {remark.line}: {remark.message}")
    for launch in summary["kernels"]:
        grid = " x ".join(str(extent) for extent in launch["grid"])
        threads = " x ".join(str(extent) for extent in launch["threads"])
        _say(f"  grid {grid}, threads {threads}, {launch['statements']} tile statements")
        if "gpu" in launch:
            _say(f"  {describe_gpu(launch['gpu'])}")
        if verbose:
            _print_tiles(launch["tiles"])
    if kernel.remarks and not verbose:
        _say(f"  {len(kernel.remarks)} remarks (-v shows them)")
    phases = [f"{name} {_time(seconds)}" for name, seconds in kernel.seconds.items()]
    runs = session.runs.get(id(kernel), 0)
    if runs:
        phases.append(f"run {_time(session.run_seconds[id(kernel)])} ({runs} x)")
    else:
        phases.append("not called")
    _say(f"  {', '.join(phases)}")
    _print_radii(kernel)


def describe_gpu(gpu: dict[str, Any]) -> str:
    """The resources of a launch; registers where ptxas could tell."""
    shared = gpu["shared_bytes"] + gpu.get("static_shared_bytes", 0)
    figures = [gpu["arch"], f"{shared} bytes of shared memory"]
    if "registers" in gpu:
        figures.append(f"{gpu['registers']} registers")
        figures.append(f"{gpu['spill_store_bytes']} bytes spilled")
    return ", ".join(figures)


def _print_radii(kernel: Any) -> None:
    """The error radii of the last run (`--bounds`): the largest, and how many are undecided."""
    for position, radii in kernel.last_run.get("radii", {}).items():
        finite = [radius for radius in radii if radius != float("inf")]
        undecided = len(radii) - len(finite)
        name = kernel.params[position]["name"]
        largest = max(finite, default=0.0)
        _say(f"  '{name}': largest error radius {largest:.2e}, {undecided} elements undecided")


def _print_tiles(tiles: list[dict[str, Any]]) -> None:
    rows = [
        (t["name"], t["scope"], " x ".join(map(str, t["shape"])), t["dtype"], str(t["bytes"]))
        for t in tiles
    ]
    heads = ("tile", "scope", "shape", "dtype", "bytes")
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.table import Table

        table = Table(*heads)
        for row in rows:
            table.add_row(*row)
        Console(stderr=True).print(table)
        return
    widths = [max(len(row[n]) for row in [heads, *rows]) for n in range(len(heads))]
    for row in [heads, *rows]:
        _say(
            "    "
            + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        )


def _time(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} us"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"
