#!/usr/bin/env python3
"""Writes docs/internals/vgpu-validation.md: which program validates which matrix instruction.

    python validation_table.py [--check]

The rows come from the PTX ISA (what sm_80, sm_89 and sm_90a have), the entries from the PTX of the
corpus: an instruction counts for a program if it stands in the program's kernel, whose inputs are
random and asymmetric, and whose values `test_third_party.py` compares with numpy. wmma kernels
count for nothing here: their fragments are opaque. `--check` only compares (a test does so).
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

from not_yet import what_lacks
from program import Program, kernel_lines
from programs import PROGRAMS

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "internals" / "vgpu-validation.md"

INTRODUCTION = """# Lane maps of matrix instructions: what validates them

<!-- Written by vgpu/test/third_party/validation_table.py; do not edit. -->

The virtual GPU's lane maps are trusted only where a kernel that somebody else's compiler laid out,
or that was written from the PTX ISA without looking at the executor, computes numpy's values on it.
*Triton*: the fragments, the swizzle and the ldmatrix addresses are Triton's. *CUDA*: an inline
instruction in a kernel of `vgpu/test/third_party/cuda`, compiled by nvcc, whose lane map was
written by hand from the PTX ISA. Inputs are random, so that no two lanes, rows or positions along k
can be exchanged unnoticed. The hand-written maps of f16, bf16, tf32, f64, 8-bit and 1-bit operands
were also compared, on paper, with the layouts of CUTLASS's atoms (`mma_traits_sm70`, `_sm80`,
`_sm90`); they agree. wmma kernels are in the corpus, but say nothing about lane maps.
`unvalidated`: implemented or not, no program that runs depends on it; nothing may rely on it.
"""


def _pairs(kinds: str) -> list[tuple[str, str]]:
    names = kinds.split()
    return [(a, b) for a in names for b in names]


def mma_rows() -> list[str]:
    """Every dense mma.sync of sm_80, sm_89 and sm_90, without its `mma.sync.aligned.`."""
    rows = []
    for layouts in ("row.col", "row.row", "col.col", "col.row"):
        rows += [f"m8n8k4.{layouts}.{acc}.f16.f16.{acc}" for acc in ("f32", "f16")]
    for k in (8, 16):
        rows += [f"m16n8k{k}.row.col.{acc}.f16.f16.{acc}" for acc in ("f32", "f16")]
        rows.append(f"m16n8k{k}.row.col.f32.bf16.bf16.f32")
    rows += [f"m16n8k{k}.row.col.f32.tf32.tf32.f32" for k in (4, 8)]
    rows += [f"{s}.row.col.f64.f64.f64.f64" for s in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")]
    for shape in ("m8n8k16", "m16n8k16", "m16n8k32"):
        rows += [f"{shape}.row.col.s32.{a}.{b}.s32" for a, b in _pairs("s8 u8")]
    for shape in ("m8n8k32", "m16n8k32", "m16n8k64"):
        rows += [f"{shape}.row.col.s32.{a}.{b}.s32" for a, b in _pairs("s4 u4")]
    for shape in ("m8n8k128", "m16n8k128", "m16n8k256"):
        rows += [f"{shape}.row.col.s32.b1.b1.s32.{op}.popc" for op in ("xor", "and")]
    for shape in ("m16n8k16", "m16n8k32"):
        for acc in ("f32", "f16"):
            rows += [f"{shape}.row.col.{acc}.{a}.{b}.{acc}" for a, b in _pairs("e4m3 e5m2")]
    return rows


def wgmma_rows() -> list[str]:
    """Accumulator and operand types of wgmma; the widths are listed within the row."""
    rows = [f"k16.{acc}.f16.f16" for acc in ("f32", "f16")] + [
        "k16.f32.bf16.bf16",
        "k8.f32.tf32.tf32",
    ]
    rows += [f"k32.{acc}.{a}.{b}" for acc in ("f32", "f16") for a, b in _pairs("e4m3 e5m2")]
    rows += [f"k32.s32.{a}.{b}" for a, b in _pairs("s8 u8")]
    return [*rows, "k256.s32.b1.b1.and.popc"]


def instructions(program: Program) -> set[str]:
    """The matrix instructions of a kernel, with the operand forms that change a wgmma."""
    found = set()
    lines = program.path.read_text().splitlines()
    for line in lines[kernel_lines(lines, program.entry)]:
        match = re.search(
            r"\b((?:mma\.sync|ldmatrix|stmatrix|movmatrix|wgmma\.mma_async)\.[\w.:]+)(.*)", line
        )
        if not match:
            continue
        opcode, operands = match.groups()
        found.add(opcode)
        if opcode.startswith("wgmma"):
            registers_a = operands.count("{") == 2
            found.add("wgmma A in " + ("registers" if registers_a else "shared memory"))
            flags = re.findall(r",\s*(-?\d+)(?=\s*[,;])", operands)
            if len(flags) >= 4 and not registers_a and flags[-2] == "1":
                found.add("wgmma A transposed")
            if len(flags) >= 3 and flags[-1] == "1" and (registers_a or len(flags) >= 4):
                found.add("wgmma B transposed")
    return found


def validators() -> dict[str, list[str]]:
    """Instruction -> names of the programs that contain it."""
    by_instruction = defaultdict(list)
    for program in PROGRAMS:
        if not program.name.startswith("wmma") and not what_lacks(program.name):
            for name in instructions(program):
                by_instruction[name].append(program.name)
    return by_instruction


def _cells(names: list[str]) -> str:
    triton = [n for n in names if n.startswith("triton_")]
    ours = [n for n in names if not n.startswith("triton_")]
    if not names:
        return "unvalidated | |"
    show = [", ".join(f"`{n}`" for n in group) for group in (triton, ours)]
    return f"{show[0]} | {show[1]} |"


def document() -> str:
    seen = validators()
    lines = [INTRODUCTION, "## mma.sync", "", "| instruction | Triton | CUDA |", "|---|---|---|"]
    plain = defaultdict(list)
    for opcode, names in seen.items():
        plain[opcode.replace(".satfinite", "")] += names
    for row in mma_rows():
        lines.append(f"| `{row}` | {_cells(plain[f'mma.sync.aligned.{row}'])}")
    covered = {f"mma.sync.aligned.{row}" for row in mma_rows()}
    strays = [o for o in plain if o.startswith("mma.sync") and o not in covered]
    assert not strays, f"rows missing for {strays}"

    lines += [
        "",
        "## ldmatrix, stmatrix, movmatrix",
        "",
        "| instruction | Triton | CUDA |",
        "|---|---|---|",
    ]
    for what in ("ldmatrix", "stmatrix"):
        for count in ("x1", "x2", "x4"):
            for trans in ("", ".trans"):
                opcode = f"{what}.sync.aligned.m8n8.{count}{trans}.shared.b16"
                lines.append(f"| `{what}.m8n8.{count}{trans}` | {_cells(seen.get(opcode, []))}")
    moved = seen.get("movmatrix.sync.aligned.m8n8.trans.b16", [])
    lines.append(f"| `movmatrix.m8n8.trans` | {_cells(moved)}")

    lines += ["", "## wgmma.mma_async (m64)", ""]
    lines += ["| types | N validated | Triton | CUDA |", "|---|---|---|---|"]
    for row in wgmma_rows():
        widths, names = set(), []
        for opcode, programs in seen.items():
            match = re.fullmatch(r"wgmma\.mma_async\.sync\.aligned\.m64n(\d+)(k[\w.]+)", opcode)
            if match and match[2].replace(".satfinite", "") == row:
                widths.add(int(match[1]))
                names += [p for p in programs if p not in names]
        shown = ", ".join(str(n) for n in sorted(widths)) or "none"
        lines.append(f"| `{row}` | {shown} | {_cells(names)}")
    lines += [
        "",
        "Widths not listed are unvalidated: the map is regular in N, but they were not run.",
        "",
    ]
    lines += ["| operand form | Triton | CUDA |", "|---|---|---|"]
    for form in ("A in shared memory", "A in registers", "A transposed", "B transposed"):
        lines.append(f"| {form} | {_cells(seen.get(f'wgmma {form}', []))}")
    swizzles = {
        "no swizzle": ["wgmma_f16_plain"],
        "32-byte swizzle": ["wgmma_f16_32b", "wgmma_u8_s8"],
        "64-byte swizzle": ["wgmma_f16_64b", "wgmma_e5m2_e4m3"],
        "128-byte swizzle": ["wgmma_f16_128b", "wgmma_bf16", "wgmma_tf32", "matmul_wgmma_tma"],
    }
    for swizzle, names in swizzles.items():
        assert all(any(p.name == n for p in PROGRAMS) for n in names)
        names = [n for n in names if not what_lacks(n)]
        lines.append(f"| descriptor, {swizzle} | {_cells(names)}")
    return "\n".join(lines) + "\n"


def main() -> int:
    text = document()
    if "--check" in sys.argv:
        return 0 if DOCUMENT.read_text() == text else 1
    DOCUMENT.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
