"""What a program of values means: its text, executed one iteration after another.

A kernel of `values.py` is read as Python syntax; scalars are typed numbers (typed_numbers.py),
tiles and tensors are arrays. Nothing of the compiler is used. What is executed is counted by
construct and dtype.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np

from differential import typed_numbers as numbers
from differential.typed_numbers import Index, Number

BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//",
          ast.Mod: "%", ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
          ast.LShift: "<<", ast.RShift: ">>"}  # fmt: skip
COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
UNARY = {ast.USub: "-", ast.Invert: "~"}


def numpy_of(dtype: str) -> np.dtype:
    """How an array holds a dtype."""
    return np.dtype(getattr(ml_dtypes, dtype, "float32" if dtype == "tfloat32" else dtype))


class Tile:
    """Elements of a tensor, tile or view; arrays of views share memory."""

    def __init__(self, array: np.ndarray, dtype: str, is_tensor: bool) -> None:
        self.array, self.dtype, self.is_tensor = array, dtype, is_tensor

    def load(self, at: tuple[int, ...]) -> Number:
        if any(not 0 <= i < extent for i, extent in zip(at, self.array.shape, strict=True)):
            assert self.is_tensor, f"index {at} of a tile of {self.array.shape}"
            return numbers.convert(Number("int32", 0), self.dtype)
        value = self.array[at]
        if not numbers.is_float(self.dtype):
            return Number(self.dtype, int(value))
        if self.dtype == "tfloat32":  # memory may hold more digits
            return numbers.convert(Number("float32", float(value)), "tfloat32")
        return Number(self.dtype, float(value))

    def store(self, at: tuple[int, ...], value: Number) -> None:
        if any(not 0 <= i < extent for i, extent in zip(at, self.array.shape, strict=True)):
            assert self.is_tensor, f"index {at} of a tile of {self.array.shape}"
            return
        with np.errstate(all="ignore"):
            self.array[at] = np.array(value.value).astype(
                np.float32 if self.dtype == "tfloat32" else self.array.dtype
            )


class Variable:
    """A `T.alloc_var`."""

    def __init__(self, dtype: str, value: Number) -> None:
        self.dtype, self.value = dtype, value


def run(path: Path, module: ModuleType) -> tuple[list[np.ndarray], Counter[tuple[str, str]]]:
    """The arguments after the function of the file, and what was executed."""
    functions = {
        node.name: node
        for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)
    }  # fmt: skip
    values = module.arguments()
    main = functions["main"]
    names: dict[str, Any] = {
        name: value for name, value in vars(module).items() if type(value) is int
    }
    seen: Counter[tuple[str, str]] = Counter()
    for argument, value in zip(main.args.args, values, strict=True):
        shape, dtype = argument.annotation.args
        names[argument.arg] = Tile(value, dtype.value, is_tensor=True)
        for extent, size in zip(shape.elts, value.shape, strict=True):
            if isinstance(extent, ast.Name):
                names[extent.id] = size
    for kernel in main.body:
        call, target = kernel.items[0].context_expr, kernel.items[0].optional_vars
        outer = _Scope(dict(names), functions, seen)
        (grid,) = (_plain(outer.value(argument)) for argument in call.args)
        for block in range(grid):
            inner = {**names, target.id: Index(block)}
            _Scope(inner, functions, seen).run(kernel.body)
    return values, seen


def _plain(value: Any) -> int:
    return int(value.value if isinstance(value, Number | Index) else value)


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class _Scope:
    """Names and what they stand for."""

    def __init__(self, names: dict[str, Any], functions: dict, seen: Counter) -> None:
        self.names, self.functions, self.seen = names, functions, seen

    # ---- Statements ----

    def run(self, body: list[ast.stmt]) -> Any:
        for stmt in body:
            result = getattr(self, f"run_{type(stmt).__name__.lower()}")(stmt)
            if result is not None:
                return result
        return None

    def run_pass(self, stmt: ast.Pass) -> None:
        pass

    def run_return(self, stmt: ast.Return) -> Any:
        return self.value(stmt.value)

    def run_break(self, stmt: ast.Break) -> None:
        raise _Break

    def run_continue(self, stmt: ast.Continue) -> None:
        raise _Continue

    def run_expr(self, stmt: ast.Expr) -> None:
        self.value(stmt.value)

    def run_if(self, stmt: ast.If) -> None:
        self.run(stmt.body if self.truth(stmt.test) else stmt.orelse)

    def run_for(self, stmt: ast.For) -> None:
        call = stmt.iter
        kind = call.func.attr
        bounds = [_plain(self.value(argument)) for argument in call.args]
        self.count(f"T.{kind}", "")
        if kind == "Parallel":
            targets = stmt.target.elts if isinstance(stmt.target, ast.Tuple) else [stmt.target]
            for place in itertools.product(*map(range, bounds)):
                for target, at in zip(targets, place, strict=True):
                    self.names[target.id] = Index(at)
                self.run(stmt.body)
            return
        self.loop([Index(k) for k in range(*bounds)], stmt.target.id, stmt.body)

    def loop(self, values: list[Any], name: str, body: list[ast.stmt]) -> None:
        for value in values:
            self.names[name] = value
            try:
                self.run(body)
            except _Continue:
                continue
            except _Break:
                break

    def run_while(self, stmt: ast.While) -> None:
        self.count("while", "")
        while self.truth(stmt.test):
            try:
                self.run(stmt.body)
            except _Continue:
                continue
            except _Break:
                break

    def run_augassign(self, stmt: ast.AugAssign) -> None:
        target = stmt.target
        if isinstance(target, ast.Name):
            read: ast.expr = ast.Name(target.id, ast.Load())
        else:
            read = ast.Subscript(target.value, target.slice, ast.Load())
        self.count(f"{BINARY[type(stmt.op)]}=", "")
        self.store(target, self.value(ast.BinOp(read, stmt.op, stmt.value)))

    def run_assign(self, stmt: ast.Assign) -> None:
        (target,) = stmt.targets
        self.store(target, self.value(stmt.value))

    def store(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Subscript):
            tile, at = self.place(target)
            self.count("store", tile.dtype)
            tile.store(at, numbers.as_type(value, tile.dtype).named())
            return
        known = self.names.get(target.id)
        if isinstance(known, Variable) and not isinstance(value, Variable):
            self.count("assign", known.dtype)
            known.value = numbers.as_type(value, known.dtype).named()
        else:
            self.names[target.id] = value.named() if isinstance(value, Number) else value

    # ---- Places ----

    def place(self, node: ast.Subscript) -> tuple[Tile, tuple[int, ...]]:
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return self.names[node.value.id], tuple(_plain(self.value(part)) for part in parts)

    def region(self, node: ast.expr) -> tuple[Tile, list[range]]:
        """A tile, or a part of it."""
        if isinstance(node, ast.Name):
            tile = self.names[node.id]
            return tile, [range(extent) for extent in tile.array.shape]
        tile = self.names[node.value.id]
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        ranges = []
        for part in parts:
            if isinstance(part, ast.Slice):
                step = _plain(self.value(part.step)) if part.step else 1
                low, high = (_plain(self.value(end)) for end in (part.lower, part.upper))
                ranges.append(range(low, high, step))
            else:
                at = _plain(self.value(part))
                ranges.append(range(at, at + 1))
        return tile, ranges

    # ---- Expressions ----

    def count(self, construct: str, dtype: str) -> None:
        self.seen[construct, dtype] += 1

    def truth(self, node: ast.expr) -> bool:
        return numbers.truth(self.value(node))

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                known = self.names[node.id]
                return known.value if isinstance(known, Variable) else known
            case ast.UnaryOp(op=ast.Not()):
                return Number("bool", int(not self.truth(node.operand)))
            case ast.UnaryOp():
                operand = self.value(node.operand)
                if isinstance(operand, int | float):
                    return -operand
                return self.counted(f"{UNARY[type(node.op)]}x", operand,
                                    numbers.unary(UNARY[type(node.op)], operand))  # fmt: skip
            case ast.BinOp():
                a, b = self.value(node.left), self.value(node.right)
                name = BINARY[type(node.op)]
                return self.counted(name, a, numbers.binary(name, a, b), b)
            case ast.Compare():
                return self.comparison(node)
            case ast.BoolOp():
                quit_at = isinstance(node.op, ast.Or)
                answer = any if quit_at else all
                return Number("bool", int(answer(self.truth(value) for value in node.values)))
            case ast.IfExp():
                a, b = self.value(node.body), self.value(node.orelse)
                return numbers.select(self.value(node.test), a, b)
            case ast.Subscript():
                tile, at = self.place(node)
                self.count("load", tile.dtype)
                return tile.load(at)
            case ast.Call(func=ast.Name()):
                return self.macro(node)
            case ast.Call():
                return self.call(node.func.attr, node)
        raise AssertionError(f"no rule for {ast.unparse(node)}")

    def counted(self, construct: str, a: Any, result: Any, b: Any = None) -> Any:
        """`result`, after counting the construct by the dtypes of its operands."""
        for operand in (a, b):
            if isinstance(operand, Number):
                self.count(construct, operand.dtype)
        return result

    def comparison(self, node: ast.Compare) -> Number:
        left = self.value(node.left)
        for op, other in zip(node.ops, node.comparators, strict=True):
            right = self.value(other)
            answer = numbers.compare(COMPARE[type(op)], left, right)
            self.counted(COMPARE[type(op)], left, None, right)
            if not answer.value:
                return answer
            left = right
        return answer

    def macro(self, node: ast.Call) -> Any:
        function = self.functions[node.func.id]
        self.count("T.macro", "")
        arguments = [self.value(argument) for argument in node.args]
        names = [argument.arg for argument in function.args.args]
        inner = {**self.names, **dict(zip(names, arguments, strict=True))}
        return _Scope(inner, self.functions, self.seen).run(function.body)

    # ---- Calls ----

    def call(self, name: str, node: ast.Call) -> Any:
        special = getattr(self, f"call_{name}", None)
        if special is not None:
            return special(node)
        values = [self.value(argument) for argument in node.args]
        options = {option.arg: option.value.value for option in node.keywords}
        return self.counted(
            f"T.{name}", values[0], self.function(name, values, options), *values[1:2]
        )

    def function(self, name: str, values: list[Any], options: dict[str, Any]) -> Any:
        match name:
            case "max" | "min":
                return numbers.choose(name, *values)
            case "clamp":
                return numbers.choose("min", numbers.choose("max", *values[:2]), values[2])
            case "if_then_else" | "Select":
                return numbers.select(*values)
            case "floordiv" | "floormod" | "truncdiv" | "truncmod" | "ceildiv" | "fmod" | "pow":
                sign = {"floordiv": "//", "floormod": "%", "pow": "**"}.get(name, name)
                return numbers.binary(sign, *values)
            case "shift_left" | "shift_right" | "bitwise_and" | "bitwise_or" | "bitwise_xor":
                signs = {"shift_left": "<<", "shift_right": ">>", "bitwise_and": "&",
                         "bitwise_or": "|", "bitwise_xor": "^"}  # fmt: skip
                return numbers.binary(signs[name], *values)
            case "bitwise_not":
                return numbers.unary("~", *values)
            case "cast" | "Cast":
                return self.cast(values, options)
            case "fma":
                return numbers.fused(*values)
            case "ieee_add" | "ieee_sub" | "ieee_mul" | "ieee_fdiv":
                return numbers.ieee(name.removeprefix("ieee_"), *values)
            case "reinterpret":
                return self.reinterpret(*values)
            case "sqrt":
                root = math.sqrt(values[0].value) if values[0].value >= 0 else math.nan
                return numbers.convert(Number("float64", root), values[0].dtype)
        if hasattr(ml_dtypes, name) or name in (*numbers.INTEGERS, *numbers.FORMATS, "bool"):
            return numbers.as_type(values[0], name)
        return numbers.unary(name, *values)

    def cast(self, values: list[Any], options: dict[str, Any]) -> Number:
        value, dtype = values
        if isinstance(value, Index):
            value = Number("int64", value.value)
        if not isinstance(value, Number):
            value = Number("float64" if isinstance(value, float) else "int64", value)
        made = numbers.convert(value, dtype, options.get("round", "rn"), options.get("sat", False))
        return made

    def reinterpret(self, value: Number, dtype: str) -> Number:
        array = np.array([value.value]).astype(numpy_of(value.dtype)).view(numpy_of(dtype))
        return Tile(array, dtype, is_tensor=False).load((0,))

    # ---- Tiles ----

    def call_alloc_var(self, node: ast.Call) -> Variable:
        dtype = node.args[0].value
        value = self.value(node.keywords[0].value)
        self.count("T.alloc_var", dtype)
        return Variable(dtype, numbers.as_type(value, dtype))

    def alloc(self, node: ast.Call) -> Tile:
        shape = tuple(_plain(self.value(extent)) for extent in node.args[0].elts)
        dtype = node.args[1].value
        self.count(f"T.{node.func.attr}", dtype)
        return Tile(np.zeros(shape, numpy_of(dtype)), dtype, is_tensor=False)

    call_alloc_shared = call_alloc_fragment = alloc

    def call_view(self, node: ast.Call) -> Tile:
        tile = self.names[node.args[0].id]
        shape = tuple(_plain(self.value(extent)) for extent in node.args[1].elts)
        dtype = node.args[2].value
        self.count("T.view", f"{tile.dtype} as {dtype}")
        return Tile(tile.array.view(numpy_of(dtype)).reshape(shape), dtype, tile.is_tensor)

    def call_copy(self, node: ast.Call) -> None:
        (source, frm), (dest, to) = (self.region(argument) for argument in node.args)
        self.count("T.copy", f"{source.dtype} to {dest.dtype}")
        moved = [source.load(at) for at in itertools.product(*frm)]
        for at, value in zip(itertools.product(*to), moved, strict=True):
            dest.store(at, numbers.convert(value, dest.dtype))

    def call_fill(self, node: ast.Call) -> None:
        tile, places = self.region(node.args[0])
        self.count("T.fill", tile.dtype)
        value = numbers.as_type(self.value(node.args[1]), tile.dtype)
        for at in itertools.product(*places):
            tile.store(at, value)
