"""Bugs planted in the code of an engine, to see that the fuzzer finds them.

A plant edits what an engine compiles: the tile IR in front of its lowering, or the PTX that came
out. The interpreter runs the program as it is. Nothing of this is in the compiler; the only doors
are `parse_program` and the run option `ptx`, which take a text.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilewright._core import core

from differential.emit import emit, load
from differential.generator import generate
from differential.witnesses import ENGINES, Verdict, examine


@dataclass(frozen=True)
class Plant:
    """A bug: what it is, and the edit that makes it."""

    name: str
    engine: str
    edit: Callable[[str], str]
    programs: int = 300  # within how many it must be seen

    def text_of(self, program: Any) -> str:
        """What the plant edits."""
        if self.engine == "cpu":
            return program.text()
        return program.compile_gpu(ENGINES[self.engine].device.removeprefix("vgpu:"))["ptx"]

    def __call__(self, program: Any) -> Any:
        edited = self.edit(self.text_of(program))
        return core.parse_program(edited) if self.engine == "cpu" else _EditedPtx(program, edited)


@dataclass
class _EditedPtx:
    """A program whose PTX is another."""

    program: Any
    ptx: str

    def run(self, device: str, arguments: list, options: dict) -> dict:
        return self.program.run(device, arguments, {**options, "ptx": self.ptx})


def _replace(pattern: str, replacement: str | Callable, count: int = 0) -> Callable[[str], str]:
    return lambda text: re.sub(pattern, replacement, text, count=count, flags=re.MULTILINE)


def _shorter(match: re.Match) -> str:
    """The last extent of a loop, rounded down to whole vectors of four."""
    extent = int(match[2])
    return f"{match[1]}{extent - extent % 4 if extent > 4 else extent})"


_TYPE = r"memref<\d+x\d+x\w+, #tile.space<\w+>>"
_GEMM, _SCAN = r"^(.*tile\.gemm .*?)", r"^(.*tile\.cumsum .*?)"
_LOST = r"\1%lost = arith.constant 1 : index\n\1tile.pipelined \2 = %lost to"

PLANTS = [
    # In front of the lowering: each is what a wrong rewrite of one statement would leave.
    Plant("reduction forgets what the result held", "cpu",
          _replace(r"^(.*tile\.reduce .* dim \d+)( :.*)$", r"\1 clear\2")),
    Plant("square operand is not transposed", "cpu",
          _replace(rf"{_GEMM} transpose_b(.* : {_TYPE}, memref<(\d+)x\3x.*)$", r"\1\2")),
    Plant("accumulator is not cleared", "cpu", _replace(rf"{_GEMM} clear %\w+( :.*)$", r"\1\2")),
    Plant("scan runs forward only", "cpu", _replace(rf"{_SCAN} reverse( :.*)$", r"\1\2")),
    Plant("floor division truncates", "cpu",
          _replace(r"tile\.floor(div|mod) ((?!.* unsigned).* : i\d+)$", r"tile.trunc\1 \2")),
    Plant("layout of a tensor is ignored", "cpu",
          _replace(r"^ *tile\.annotate_layout %arg.*\n", "")),
    Plant("safe value is ignored", "cpu", _replace(r"^ *tile\.annotate_safe_value .*\n", "")),
    Plant("first trip of a pipeline is lost", "cpu",
          _replace(r"^( *)tile\.pipelined (%\S+) = %\S+ to", _LOST, 1)),
    Plant("tail of a loop is lost", "cpu",
          _replace(r"^(.*tile\.parallel .* in \(.*?)(\d+)\)(?= \{)", _shorter)),
    Plant("part of a tile starts at its beginning", "cpu",
          _replace(r"(tile\.slice %[^a][^\[]*)\[\d+, \d+\]", r"\1[0, 0]")),
    Plant("condition includes its bound", "cpu", _replace(r"arith\.cmpi slt", "arith.cmpi sle")),
    Plant("atomic maximum is a minimum", "cpu",
          _replace(r"(tile\.atomic(?:_element)? +)max", r"\1min")),
    Plant("arithmetic shift shifts in zeros", "cpu",
          _replace(r"(tile\.shr [^:\n]*?)(?<!unsigned) : i", r"\1 unsigned : i")),
    Plant("uint8 is widened as a signed number", "cpu", _replace(r"from ui8 to", "from i8 to")),
    Plant("unsigned numbers are compared as signed ones", "cpu",
          _replace(r"arith\.cmpi u(lt|le|gt|ge)", r"arith.cmpi s\1")),
    Plant("unsigned maximum is a signed one", "cpu",
          _replace(r"arith\.(max|min)ui", r"arith.\1si")),
    Plant("ceiling is a floor", "cpu", _replace(r"math\.ceil", "math.floor")),
    Plant("shift takes its amount modulo 16", "cpu",
          _replace(r"arith\.constant 31 : i", "arith.constant 15 : i")),
    # In the code that came out.
    Plant("first barrier is missing", "sm_80", _replace(r"^\s*bar\.sync\s+0;\n", "", 1)),
    Plant("bound of a guard is one too large", "sm_80",
          _replace(r"setp\.(lt|gt)\.([su])(32|64)", lambda m: f"setp.{m[1][0]}e.{m[2]}{m[3]}")),
    Plant("sign is lost in a shift", "sm_80", _replace(r"shr\.s32", "shr.u32")),
    Plant("shared tile is read one word late", "sm_80",
          _replace(r"(ld\.shared\.b32 .*\[%rd\d+)\]", r"\1+4]", 1)),
]  # fmt: skip


def hunt(plant: Plant, programs: int) -> tuple[int, Verdict] | None:
    """How many programs it took to see the bug, and how it showed; None if it was not seen."""
    for seed in range(programs):
        program = generate(seed)
        with tempfile.TemporaryDirectory(prefix="tilewright-fuzz-") as folder:
            path = Path(folder) / "program.py"
            path.write_text(emit(program))
            if not _changes(plant, load(path).main.program):
                continue
        for verdict in examine(program, [plant.engine], plant, assembles=False):
            if verdict.is_failure:
                return seed + 1, verdict
    return None


def _changes(plant: Plant, program: Any) -> bool:
    """Whether the bug has a place in the program; a GPU may refuse the program altogether."""
    try:
        text = plant.text_of(program)
    except Exception:
        return False
    return plant.edit(text) != text
