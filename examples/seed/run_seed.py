"""The seed kernel, run and compared with an independent computation: what `make run` shows.

The unmodified script `flash_attention_backward.py` (GQA flash-attention backward) is loaded. At a
few small sizes its kernel runs three times: by the reference interpreter, as compiled CPU code, and
as PTX on the virtual GPU with every check on. dQ (read back through the kernel's own layout), dK
and dV are compared with plain numpy. Then the CPU runs it at the script's own size (full_size.py).

    python examples/seed/run_seed.py            all of it
    python examples/seed/run_seed.py --quick    the smallest size only
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np
from reference import attention_backward, dq_from_layout
from rich.console import Console
from rich.table import Table
from rich.text import Text

SEED = Path(__file__).with_name("flash_attention_backward.py")


@dataclass(frozen=True)
class Case:
    """One size and one configuration of the kernel."""

    batch: int
    heads: int
    groups: int
    seq_len: int
    dim: int
    window: int | None
    arch: str  # picks the script's own configuration: sm_80 or sm_90

    def __str__(self) -> str:
        return f"{self.batch}, {self.heads}, {self.seq_len}, {self.dim}"


SMALL = [
    Case(1, 4, 2, 128, 64, window, arch) for arch in ("sm_80", "sm_90") for window in (None, 64)
]
MIDDLE = [
    Case(2, 4, 2, 256, 128, window, arch) for arch in ("sm_80", "sm_90") for window in (None, 128)
]

FULL = Case(1, 64, 8, 4096, 128, None, "sm_80")  # as the script has it

# Relative to the largest reference value. Inputs and the two intermediate tiles are rounded to
# float16 (u = 2**-11), each at most twice on the way to a result.
TOLERANCE = 4 * 2.0**-11


def load_kernel(case: Case, device: str):
    """The compiled kernel of the seed script for `device`, under `case`'s architecture."""
    import runpy

    with patch.dict(os.environ, TILEWRIGHT_ARCH=case.arch, TILEWRIGHT_DEVICE=device):
        script = runpy.run_path(str(SEED))
        return script["flashattn_bwd"](
            batch=case.batch,
            heads=case.heads,
            seq_len=case.seq_len,
            dim=case.dim,
            groups=case.groups,
            window_size=case.window,
        )


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Random Q, K, V, dO in float16."""
    q_shape = (case.batch, case.heads, case.seq_len, case.dim)
    kv_shape = (case.batch, case.heads // case.groups, case.seq_len, case.dim)
    shapes = {"Q": q_shape, "K": kv_shape, "V": kv_shape, "dO": q_shape}
    return {name: rng.standard_normal(s).astype(np.float16) for name, s in shapes.items()}


def largest_error(result: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference, relative to the largest expected value."""
    if not np.isfinite(result).all():
        return float("inf")
    return float(np.abs(result - expected).max() / np.abs(expected).max())


@dataclass(frozen=True)
class Outcome:
    """What one engine did with one case."""

    errors: dict[str, float]
    compile_seconds: float
    run_seconds: float
    findings: list[str]

    @property
    def is_good(self) -> bool:
        return max(self.errors.values()) <= TOLERANCE and not self.findings


def devices(case: Case) -> list[str]:
    """The engines, the oracle first."""
    return ["interp", "cpu", f"vgpu:{case.arch}"]


def run_case(case: Case, device: str) -> Outcome:
    """Compiles and runs the kernel on one device and compares its results with numpy."""
    start = time.perf_counter()
    kernel = load_kernel(case, device)
    compiled = time.perf_counter() - start
    inputs = make_inputs(case, np.random.default_rng(0))
    expected = attention_backward(**inputs, groups=case.groups, window=case.window)
    outputs = {name: np.zeros(expected[name].shape, np.float32) for name in ("dQ", "dK", "dV")}
    start = time.perf_counter()
    kernel(
        *inputs.values(), expected["lse"], expected["delta"],
        outputs["dQ"], outputs["dK"], outputs["dV"],
    )  # fmt: skip
    ran = time.perf_counter() - start
    outputs["dQ"] = dq_from_layout(outputs["dQ"])
    errors = {name: largest_error(array, expected[name]) for name, array in outputs.items()}
    findings = [f["message"] for f in kernel.findings if f["severity"] != "note"]
    return Outcome(errors, compiled, ran, findings)


def show_counters(console: Console, case: Case) -> bool:
    """What the virtual GPU counted on one case: in all, and line by line in the main loop.

    Returns whether it agrees with the interpreter.
    """
    kernel = load_kernel(case, f"vgpu:{case.arch}")
    inputs = make_inputs(case, np.random.default_rng(0))
    expected = attention_backward(**inputs, groups=case.groups, window=case.window)
    outputs = [np.zeros(expected[name].shape, np.float32) for name in ("dQ", "dK", "dV")]
    arguments = (*inputs.values(), expected["lse"], expected["delta"], *outputs)
    verified = kernel.verify(*arguments, arch=case.arch)
    console.print(f"{case}, {case.arch}: {verified}")
    counters = verified.counters[0]
    names = ("warp_instructions", "tensor_operations", "barrier_waits", "global_bytes_read")
    console.print("counters: " + ", ".join(f"{name} {counters[name]:,}" for name in names))
    console.print(counter_table(counters["source_lines"], f"main loop on vgpu:{case.arch}"))
    return bool(verified)


def main_loop() -> range:
    """The lines of the kernel's pipelined loop in the script."""
    tree = ast.parse(SEED.read_text())
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)]
    loop = next(node for node in loops if "Pipelined" in ast.unparse(node.iter))
    return range(loop.lineno, loop.end_lineno + 1)


def counter_table(source_lines: list[dict], title: str) -> Table:
    """Bank conflicts and sectors of each line of the main loop; `x` is actual over ideal."""
    lines, code = main_loop(), SEED.read_text().splitlines()
    table = Table("line", "", "warp instr.", "tensor ops", "wavefronts", "x", "sectors", "requests",
                  "x", title=title)  # fmt: skip
    for entry in source_lines:
        file, _, line = entry["source"].rpartition(":")
        if Path(file).name != SEED.name or int(line) not in lines:
            continue
        ratios = [
            f"{entry[name] / entry[name + '_ideal']:.2f}" if entry[name] else ""
            for name in ("shared_wavefronts", "global_sectors")
        ]
        numbers = [
            f"{entry[name]:,}" if entry[name] else ""
            for name in ("warp_instructions", "tensor_operations", "shared_wavefronts",
                         "global_sectors", "global_requests")
        ]  # fmt: skip
        statement = Text(code[int(line) - 1].strip()[:36], no_wrap=True)  # not markup
        table.add_row(line, statement, *numbers[:3], ratios[0], *numbers[3:], ratios[1])
    return table


def main() -> int:
    """Runs the cases; 1 if any differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the smallest size only")
    options = parser.parse_args()

    from tilewright.compat import imports

    imports.install()  # as `tw run` does: `import tilelang` gives Tilewright
    console = Console() if sys.stdout.isatty() else Console(width=120)
    table = Table(
        "b, h, seq, dim", "mask", "M/N/stages/threads", "device", "compile", "run",
        "dQ", "dK", "dV", "", title="flash-attention backward, against numpy",
    )  # fmt: skip
    wrong = 0
    with console.status("running") as status:
        for case in SMALL + ([] if options.quick else MIDDLE):
            for device in devices(case):
                status.update(f"{case}, {device}, window {case.window}")
                outcome = run_case(case, device)
                wrong += not outcome.is_good
                table.add_row(
                    str(case),
                    "causal" if case.window is None else f"window {case.window}",
                    "64/32/1/128" if case.arch == "sm_80" else "128/32/2/256",
                    device,
                    f"{outcome.compile_seconds * 1e3:.0f} ms",
                    f"{outcome.run_seconds:.2f} s",
                    *(f"{outcome.errors[name]:.1e}" for name in ("dQ", "dK", "dV")),
                    "[green]ok[/green]" if outcome.is_good else "[red]wrong[/red]",
                )
                for finding in outcome.findings:
                    console.print(finding)
    console.print(table)
    for case in SMALL[::2]:  # both configurations
        wrong += not show_counters(console, case)
    if not options.quick:
        from full_size import run_full_size

        wrong += not run_full_size(console, FULL, load_kernel(FULL, "cpu"), TOLERANCE)
    console.print(
        f"[red]{wrong} of the results are wrong[/red]"
        if wrong
        else f"all results agree with numpy (relative error at most {TOLERANCE:.1e}), and no check "
        "found anything"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
