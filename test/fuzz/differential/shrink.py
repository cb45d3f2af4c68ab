"""From a failing program to a small one that fails alike.

Every step makes one part of the program smaller and keeps the result if it is still sound and the
same engine still fails in the same way. Steps that leave an ill-formed program (an unwritten tile,
an unknown name) lose by themselves: the interpreter objects, which is another verdict.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from differential.generator import words
from differential.program import (
    Expr,
    If,
    Loop,
    Parallel,
    Persistent,
    Program,
    Stmt,
    walk,
)
from differential.ranges import is_sound

Fails = Callable[[Program], bool]


def shrink(
    program: Program, fails: Fails, seconds: float = 120.0,
    is_sound: Callable[[Program], bool] = is_sound,
) -> Program:  # fmt: skip
    """The smallest program found within the time."""
    deadline = time.monotonic() + seconds
    progress = True
    while progress and time.monotonic() < deadline:
        progress = False
        for candidate in _smaller(program):
            if time.monotonic() > deadline:
                break
            if is_sound(candidate) and fails(candidate):
                program, progress = candidate, True
                break
    return program


def _smaller(program: Program) -> Iterator[Program]:
    """Candidates, those that remove most first. Positions count statements as `walk` does, which is
    stable under a deep copy."""
    yield from _without_statements(program)
    yield from _unused(program)
    yield from _unwrapped(program)
    yield from _smaller_extents(program)
    yield from _without_annotations(program)
    yield from _simpler_expressions(program)


# ---- Statements ----


def _bodies(program: Program) -> list[list[Stmt]]:
    found = [program.body]
    for stmt in walk(program.body):
        found += stmt.blocks()
    return found


def _without_statements(program: Program) -> Iterator[Program]:
    for number, body in enumerate(_bodies(program)):
        size = len(body)
        while size:
            for start in range(0, len(body), size):
                trial = copy.deepcopy(program)
                del _bodies(trial)[number][start : start + size]
                yield trial
            size //= 2


def _unwrapped(program: Program) -> Iterator[Program]:
    """A compound statement replaced by its body; loops of fewer trips."""
    for number, body in enumerate(_bodies(program)):
        for position, stmt in enumerate(body):
            for which in (
                range(len(stmt.blocks())) if isinstance(stmt, If | Loop | Persistent) else ()
            ):
                trial = copy.deepcopy(program)
                target = _bodies(trial)[number]
                target[position : position + 1] = target[position].blocks()[which]
                yield trial
            if isinstance(stmt, Loop):
                for change in (
                    {"trips": "1"},
                    {"trips": "2"},
                    {"step": 1},
                    {"num_stages": 0},
                    {"kind": "serial"},
                ):
                    if any(getattr(stmt, k) != v for k, v in change.items()) and not (
                        change.get("trips") == "2" and stmt.trips == "1"
                    ):
                        trial = copy.deepcopy(program)
                        target = _bodies(trial)[number]
                        target[position] = replace(target[position], **change)
                        yield trial


# ---- Extents and declarations ----


def _smaller_extents(program: Program) -> Iterator[Program]:
    for name, value in program.extents.items():
        for smaller in sorted({1, 2, value // 2, value - 1}):
            if 0 < smaller < value:
                yield replace(program, extents={**program.extents, name: smaller})
    if program.threads > 32:
        yield replace(program, threads=32)
    if program.dynamic:
        yield replace(program, dynamic=())
    if program.cluster:
        yield replace(program, cluster=())


def _unused(program: Program) -> Iterator[Program]:
    used = {word for stmt in program.body for line in stmt.lines() for word in words(line)}
    kept = [b for b in program.buffers if b.name in used]
    if len(kept) < len(program.buffers) and kept:
        yield replace(program, buffers=kept)


def _without_annotations(program: Program) -> Iterator[Program]:
    for number, buffer in enumerate(program.buffers):
        if buffer.layout or buffer.strides or buffer.safe_value is not None:
            buffers = list(program.buffers)
            buffers[number] = replace(buffer, layout="", strides=(), safe_value=None)
            yield replace(program, buffers=buffers)


# ---- Expressions ----


def _simpler(expr: Expr) -> Iterator[Expr]:
    """The same expression with one node replaced by an argument or by a constant."""
    for arg in expr.args:
        if arg.dtype == expr.dtype:
            yield arg
    if expr.op not in ("const", "typed", "literal"):
        yield Expr("typed", expr.dtype, (), 1)
    for number, arg in enumerate(expr.args):
        for simpler in _simpler(arg):
            yield replace(expr, args=(*expr.args[:number], simpler, *expr.args[number + 1 :]))


def _simpler_expressions(program: Program) -> Iterator[Program]:
    for position, stmt in enumerate(walk(program.body)):
        if isinstance(getattr(stmt, "value", None), Expr):
            for value in _simpler(stmt.value):
                trial = copy.deepcopy(program)
                list(walk(trial.body))[position].value = value
                yield trial
        if isinstance(stmt, Parallel) and len(stmt.variables) > 1:
            order = sorted(range(len(stmt.variables)), key=lambda d: stmt.variables[d])
            if order != list(range(len(order))):
                trial = copy.deepcopy(program)
                loop = list(walk(trial.body))[position]
                loop.variables = tuple(stmt.variables[d] for d in order)
                loop.extents = tuple(stmt.extents[d] for d in order)
                yield trial
