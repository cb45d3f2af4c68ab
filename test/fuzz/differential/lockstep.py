"""What a program that names its threads means, in numpy.

A kernel of `threads.py` is read as Python syntax and executed as docs/semantics.md says: one
statement after another, each by all threads at once. A value of threads is a row with an element
for each; `mask` says which threads are at a statement. Loads of a statement come before its store.
Nothing of the front end is used, which all engines share: what it gets wrong, only this can see.
"""

from __future__ import annotations

import ast
import itertools
import operator
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

WARP, GROUP = 32, 128
BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
          ast.Mod: operator.mod, ast.FloorDiv: operator.floordiv, ast.BitAnd: operator.and_,
          ast.BitXor: operator.xor}  # fmt: skip
COMPARE = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.Eq: operator.eq,
           ast.NotEq: operator.ne}  # fmt: skip
#: Nothing happens at them: a statement begins when all threads are through the one before.
ORDERING = ("sync_threads", "sync_warp", "barrier_arrive", "barrier_wait")


def names_threads(path: Path) -> bool:
    """Whether the program in the file is one."""
    return "T.get_thread_binding" in path.read_text()


def run(path: Path, module: ModuleType) -> list[np.ndarray]:
    """The arguments after the kernel of the file."""
    function = next(
        node for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name == "main"
    )  # fmt: skip
    values = module.arguments()
    names = [argument.arg for argument in function.args.args]
    (kernel,) = function.body
    for block in range(module.G):
        constants = {"N": module.N, "bx": block}
        _Block(module.N, {**constants, **dict(zip(names, values, strict=True))}).run(kernel.body)
    return values


class _Block:
    """The threads of one block, or the iterations of a T.Parallel."""

    def __init__(self, lanes: int, names: dict[str, Any]) -> None:
        self.lanes = lanes
        self.index = np.arange(lanes)
        self.names = names
        self.mask = np.ones(lanes, bool)
        self.left = np.zeros(lanes, bool)  # this trip of the innermost loop,
        self.broken = np.zeros(lanes, bool)  # or all of it
        self.own: set[str] = set()  # variables and arrays of threads

    def run(self, body: list[ast.stmt]) -> None:
        for stmt in body:
            if not self.mask.any():
                return
            getattr(self, f"run_{type(stmt).__name__.lower()}")(stmt)

    def under(self, condition: Any, body: list[ast.stmt]) -> None:
        """The statements, by the threads for which the condition holds."""
        outer = self.mask
        self.mask = outer & condition
        if self.mask.any():
            self.run(body)
        self.mask = outer & ~self.left

    def row(self, value: Any) -> np.ndarray:
        return np.broadcast_to(np.asarray(value), (self.lanes,))

    # ---- Statements ----

    def run_pass(self, stmt: ast.Pass) -> None:
        pass

    def run_if(self, stmt: ast.If) -> None:
        condition = self.row(self.value(stmt.test))
        self.under(condition, stmt.body)
        self.under(~condition, stmt.orelse)

    def run_with(self, stmt: ast.With) -> None:
        (group,) = stmt.items[0].context_expr.args  # of T.ws
        self.under(self.index // GROUP == group.value, stmt.body)

    def run_for(self, stmt: ast.For) -> None:
        kind, trips = stmt.iter.func.attr, self.row(self.value(stmt.iter.args[0]))
        name = stmt.target.id
        if kind == "Parallel":
            self.parallel(name, int(trips[0]), stmt.body)
            return
        self.loop(name, lambda: trips > self.names[name], stmt.body)

    def run_while(self, stmt: ast.While) -> None:
        self.loop("", lambda: self.row(self.value(stmt.test)), stmt.body)

    def loop(self, variable: str, goes_on: Callable[[], np.ndarray], body: list[ast.stmt]) -> None:
        """Trips of the threads for which `goes_on` holds, until there are none."""
        entered, left, broken = self.mask, self.left, self.broken
        self.broken = np.zeros(self.lanes, bool)
        for trip in itertools.count():
            self.names[variable] = trip
            self.left = left | self.broken
            self.mask = entered & ~self.broken
            self.mask = self.mask & goes_on()
            if not self.mask.any():
                break
            self.run(body)
        self.mask, self.left, self.broken = entered, left, broken

    def run_continue(self, stmt: ast.Continue) -> None:
        self.left = self.left | self.mask
        self.mask = self.mask & False

    def run_break(self, stmt: ast.Break) -> None:
        self.broken = self.broken | self.mask
        self.run_continue(stmt)

    def parallel(self, name: str, extent: int, body: list[ast.stmt]) -> None:
        first = int(np.argmax(self.mask))
        names = {k: v[first] if k in self.own else v for k, v in self.names.items()}
        _Block(extent, {**names, name: np.arange(extent)}).run(body)

    def run_expr(self, stmt: ast.Expr) -> None:
        self.value(stmt.value)

    def run_augassign(self, stmt: ast.AugAssign) -> None:
        value = ast.BinOp(_reading(stmt.target), stmt.op, stmt.value)
        self.store(stmt.target, self.value(value))

    def run_assign(self, stmt: ast.Assign) -> None:
        (target,) = stmt.targets
        call = stmt.value
        kind = call.func.attr if isinstance(call, ast.Call) else ""
        if kind.startswith("alloc_"):
            self.declare(target.id, kind, call)
        else:
            self.store(target, self.value(call))

    def declare(self, name: str, kind: str, call: ast.Call) -> None:
        if kind == "alloc_barrier":
            self.names[name] = name
        elif kind == "alloc_var":
            self.names[name] = self.row(self.value(call.keywords[0].value))
            self.own.add(name)
        else:
            (extent,) = (self.value(node) for node in call.args[0].elts)
            is_own = kind == "alloc_local"
            shape = (self.lanes, extent) if is_own else (extent,)
            self.names[name] = np.zeros(shape, call.args[1].value)
            self.own |= {name} if is_own else set()

    def store(self, target: ast.expr, value: Any) -> None:
        row = self.row(value)
        if isinstance(target, ast.Name):
            known = self.names.get(target.id)
            self.names[target.id] = row if known is None else np.where(self.mask, row, known)
            return
        buffer, at = self.element(target)
        buffer[tuple(self.row(i)[self.mask] for i in at)] = row[self.mask]

    # ---- Expressions ----

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self.names[node.id]
            case ast.UnaryOp():  # of a number
                return -node.operand.value
            case ast.BinOp():
                return BINARY[type(node.op)](self.value(node.left), self.value(node.right))
            case ast.Compare():
                compare = COMPARE[type(node.ops[0])]
                return compare(self.value(node.left), self.value(node.comparators[0]))
            case ast.Subscript():
                buffer, at = self.element(node)
                extents = zip(at, buffer.shape, strict=True)
                return _wide(buffer[tuple(self.clamped(i, extent) for i, extent in extents)])
            case ast.Call(func=ast.Name()):
                return self.macro(node.func.id, node.args)
            case ast.Call():
                return self.call(node.func.attr, node)
        raise AssertionError(f"no rule for {ast.unparse(node)}")

    def clamped(self, index: Any, extent: int) -> np.ndarray:
        """The index, and 0 for threads that are not here: theirs may be anything."""
        return np.where(self.mask, self.row(index), 0) % extent

    def element(self, node: ast.Subscript) -> tuple[np.ndarray, list[Any]]:
        """The buffer and the coordinates; a thread's array has the thread in front."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        at = [self.value(part) for part in parts]
        own = [self.index] if node.value.id in self.own else []
        return self.names[node.value.id], own + at

    def region(self, node: ast.expr) -> np.ndarray:
        """The elements of a tile, or of a part of it, that share memory with it. A part of a thread
        has a row for each, as the thread's own memory does."""
        if isinstance(node, ast.Name):
            return self.names[node.id]
        view, parts = self.names[node.value.id], node.slice
        for part in parts.elts if isinstance(parts, ast.Tuple) else [parts]:
            if isinstance(part, ast.Slice):
                view = view[..., self.value(part.lower) : self.value(part.upper)]
            elif not isinstance(at := self.value(part), np.ndarray):
                view = view[at]  # of the block; a thread's index keeps all rows
        return view

    # ---- Calls ----

    def macro(self, name: str, arguments: list[ast.expr]) -> Any:
        """What `threads.MACROS` define."""
        if name == "scaled":
            value, factor = (self.value(argument) for argument in arguments)
            return (value & 1023) * factor + 1
        tile, at, value = arguments  # of `keep`
        return self.store(ast.Subscript(tile, at), self.value(value))

    def call(self, name: str, node: ast.Call) -> Any:
        if name in ORDERING:
            return None
        if name in ("fill", "clear", "copy", "cumsum", "reduce_sum", "reduce_max"):
            return self.tile(name, node.args)
        if name.startswith("atomic_"):
            return self.atomic(name.removeprefix("atomic_"), *node.args)
        if name == "get_thread_binding":
            return self.index
        values = [self.value(argument) for argument in node.args]
        if name.startswith(("shfl", "warp_reduce")):
            return self.exchange(name, *values)
        if name in ("any_sync", "all_sync", "ballot") or name.startswith("syncthreads_"):
            return self.vote(name, self.row(values[0]) != 0)
        return {
            "cast": lambda x, dtype: np.asarray(x).astype("int64" if dtype == "int32" else dtype),
            "max": np.maximum,
            "min": np.minimum,
            "if_then_else": np.where,
        }[name](*values)

    def atomic(self, kind: str, target: ast.Subscript, value: ast.expr) -> np.ndarray:
        """What was there before, which is only asked for where each thread has its own element."""
        amount = self.row(self.value(value))
        buffer, at = self.element(target)
        (index,) = (self.row(i) for i in at)
        before = _wide(buffer[self.clamped(index, buffer.shape[0])])
        combine = {"add": np.add, "max": np.maximum}[kind]
        combine.at(buffer, index[self.mask], amount[self.mask].astype(buffer.dtype))
        return before

    def exchange(self, name: str, value: Any, amount: Any = 0, width: int = WARP) -> np.ndarray:
        value, lane = self.row(value), self.index
        if name.startswith("warp_reduce"):
            reduce = getattr(value.reshape(-1, WARP), name.removeprefix("warp_reduce_"))
            return np.repeat(reduce(axis=1), WARP)
        segment = lane - lane % width
        other = {"xor": lane ^ amount, "down": lane + amount, "up": lane - amount,
                 "sync": segment + amount}[name.removeprefix("shfl_")]  # fmt: skip
        return value[np.where(other - other % width == segment, other, lane)]

    def vote(self, name: str, answer: np.ndarray) -> Any:
        """Of the threads of a warp or of the block, which are all here or not at all."""
        if name.startswith("syncthreads_"):
            kinds = {"count": answer.sum(), "and": answer.all(), "or": answer.any()}
            return int(kinds[name.removeprefix("syncthreads_")])
        warps = answer.reshape(-1, WARP)
        bits = {"any_sync": warps.any(axis=1), "all_sync": warps.all(axis=1),
                "ballot": (warps << np.arange(WARP)).sum(axis=1)}[name]  # fmt: skip
        return np.repeat(bits.astype(np.int64), WARP)

    def tile(self, name: str, arguments: list[ast.expr]) -> None:
        """Of the block: once. Of a thread's memory: by the threads that are here."""
        first = self.region(arguments[0])
        if name in ("fill", "clear"):
            here = self.mask if arguments[0].id in self.own else slice(None)
            first[here] = self.value(arguments[1]) if name == "fill" else 0
        elif name == "cumsum":
            first[:] = np.cumsum(first, dtype=first.dtype)
        elif name == "copy":
            dest = self.region(arguments[1])
            here = self.mask if dest.ndim > 1 else slice(None)
            dest[here] = first[here]
        else:
            reduce = getattr(np, name.removeprefix("reduce_"))
            self.region(arguments[1])[:] = reduce(first).astype(first.dtype)


def _wide(values: np.ndarray) -> np.ndarray:
    """Numbers that do not wrap; a program cuts what it keeps."""
    return values.astype(np.int64) if values.dtype.kind == "i" else values


def _reading(target: ast.expr) -> ast.expr:
    return ast.Subscript(target.value, target.slice, ast.Load())
