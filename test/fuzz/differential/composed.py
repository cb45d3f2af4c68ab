"""Random programs of statements on operands in every form.

Each part of a program is a choice of a family of the conformance matrix (test/conformance): a
statement, its dtypes, and for each operand a form (a view of another dtype, a slice, strided,
padded, re-laid-out) in some memory. A kernel holds several parts, some of them in branches and
loops, so that the layouts of one meet those of the others; a function may hold two kernels. What
the arguments are afterwards, the references of the matrix say: the interpreter is judged too.
"""

from __future__ import annotations

import random
import re
import sys
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from differential import emit as tile_programs
from differential.program import Bound, Buffer, Program, Stmt, render_block

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from conformance import statements
from conformance.statements import FAMILIES
from conformance.statements_operands import Operand

THREADS = (32, 64, 128, 128, 256)
#: M, N, K besides those of the matrix: one and several warpgroups, and none.
EXTENTS = ((64, 16, 32), (64, 32, 64), (128, 16, 16), (128, 32, 64), (64, 24, 128), (192, 8, 16))
#: What stands around a statement. The run-time number is 1.
AROUND = ("", "", "", "if ONE[0] > 0:", "for t in T.serial(1):", "for t in T.serial(ONE[0]):",
          "for t in T.Pipelined(1, num_stages=2):")  # fmt: skip


@cache
def _built(family: str, choice: tuple[tuple[str, Any], ...]) -> statements.Program:
    return FAMILIES[family].build(dict(choice))


@dataclass
class Part(Stmt):
    """One choice of a family. Its names end with its number."""

    number: int
    family: str
    choice: tuple[tuple[str, Any], ...]
    around: str

    @property
    def built(self) -> statements.Program:
        return _built(self.family, self.choice)

    def renamed(self, operand: Operand) -> Operand:
        return replace(operand, name=f"{operand.name}_{self.number}")

    @property
    def operands(self) -> list[Operand]:
        return [self.renamed(operand) for operand in self.built.operands]

    def lines(self) -> list[str]:
        loads = [line for operand in self.operands for line in operand.load()]
        stores = [line for o in self.built.results for line in self.renamed(o).store()]
        names = "|".join([*(o.name for o in self.built.operands), r"r\d+"])
        body = [re.sub(rf"\b({names})\b", rf"\1_{self.number}", line) for line in self.built.body]
        made = [line for line in body if "T.alloc_" in line]
        rest = [line for line in body if "T.alloc_" not in line]
        if self.around:
            rest = [self.around, *(f"    {line}" for line in rest)]
        return [*loads, *made, *rest, *stores]


@dataclass
class Kernel(Stmt):
    """Parts that one launch executes."""

    threads: int
    body: list[Stmt]

    def blocks(self) -> list[list[Stmt]]:
        return [self.body]

    def lines(self) -> list[str]:
        return [f"with T.Kernel(1, threads={self.threads}):", *render_block(self.body)]


def generate(seed: int) -> Program:
    """The program of a seed."""
    rng = random.Random(f"statements {seed}")
    program = Program(seed, True, {}, (), ("1",), 32, [], [], kind="statements")
    program.buffers = [Buffer("ONE", ("1",), "int32", "global", "in", Bound(1))]
    numbers = iter(range(100))
    for _ in range(rng.choice((1, 1, 1, 2))):
        threads = rng.choice(THREADS)
        parts: list[Stmt] = [_part(next(numbers), rng) for _ in range(rng.choice((1, 2, 2, 3)))]
        program.body.append(Kernel(threads, parts))
    return program


def _part(number: int, rng: random.Random) -> Part:
    family = rng.choice((*FAMILIES, "products"))
    row = FAMILIES[family]
    while True:
        choice = {name: rng.choice(values) for name, values in row.parameters.items()}
        if family == "products" and rng.random() < 0.6:
            choice["extents"] = rng.choice(EXTENTS)
        if row.has(choice):
            return Part(number, family, tuple(choice.items()), rng.choice(AROUND))


def is_sound(program: Program) -> bool:
    """Whether a program that was made smaller still has a statement in each kernel."""
    return bool(program.body) and all(kernel.body for kernel in program.body)


# ---- Text ----

ARGUMENTS = """
#: The choices of which the kernel was made, by the numbers at the ends of its names.
PARTS = {parts}
#: The dtypes that the statements see; memory may be declared as another one.
SEEN_AS = {seen}
WRITTEN = {written}


def arguments():
    return composed.arguments(PARTS)


def expected():
    return composed.expected(PARTS)
"""


def parts_of(program: Program) -> list[Part]:
    return [part for kernel in program.body for part in kernel.blocks()[0]]


def emit(program: Program, file: str = "FILE.py") -> str:
    """The text of its file."""
    head = tile_programs.HEADER.format(seed=program.seed, mode="exact", file=file)
    head = head.replace("differential --seed", "differential --kind statements --seed", 1)
    folder = Path(__file__).resolve().parents[1]
    head += f"import sys\n\nsys.path.insert(0, {str(folder)!r})\n"
    head += "from differential import composed  # noqa: E402\n\n"
    parts = parts_of(program)
    lines = ["", "@T.prim_func", "def main(", '    ONE: T.Tensor((1,), "int32"),']
    lines += [f"    {operand.parameter}," for part in parts for operand in part.operands]
    lines += ["):", *render_block(program.body), ""]
    seen = {operand.name.upper(): operand.dtype for part in parts for operand in part.operands}
    choices = [(part.family, part.choice) for part in parts]
    shown = ",\n    ".join(map(repr, choices))
    tail = ARGUMENTS.format(parts=f"[\n    {shown},\n]", seen=seen, written=tuple(seen))
    return head + "\n".join(lines) + tail + tile_programs.FOOTER


def arguments(parts: list[tuple[str, Any]]) -> list[np.ndarray]:
    """Of a call, before it."""
    built = [_built(*part) for part in parts]
    return [np.ones(1, np.int32), *(a.copy() for part in built for a in part.arguments)]


def expected(parts: list[tuple[str, Any]]) -> list[np.ndarray]:
    """The same after the call."""
    built = [_built(*part) for part in parts]
    return [np.ones(1, np.int32), *(a for part in built for a in part.expected)]
