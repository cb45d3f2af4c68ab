"""Random scalar expressions, kept within a bound."""

from __future__ import annotations

import random

from differential.indices import Indices, Var
from differential.program import Bound, Buffer, Expr, Program
from differential.promotion import literal_dtype, meet
from differential.ranges import (
    COMPUTES_AS,
    FLOATS,
    FUNCTIONS,
    INTEGERS,
    Inexact,
    Ranges,
    full,
    is_float,
)

ARITHMETIC = ("add", "sub", "mul", "max", "min", "add", "sub", "mul")
INTEGER_ONLY = ("floordiv", "floormod", "truncdiv", "and", "or", "xor", "shl", "shr")
MIXED = ("add", "sub", "mul", "max", "min")
COMPARES = ("<", "<=", ">", ">=", "==", "!=")


class Expressions:
    """Draws expressions of the values in scope: index variables, buffers, variables."""

    def __init__(self, program: Program, rng: random.Random) -> None:
        self.program = program
        self.rng = rng
        self.indices = Indices(program, rng)
        self.ranges = Ranges(program)

    def value(
        self, dtype: str, variables: list[Var], sources: list[Buffer], limit: Bound, depth: int = 3,
        forced: dict[str, tuple[str, ...]] | None = None, scalars: list[Expr] | None = None,
    ) -> Expr:  # fmt: skip
        """An expression of `dtype` within `limit`. A buffer of `forced` may only be read at the
        indices given there."""
        scope = _Scope(variables, sources, forced or {}, scalars or [])
        compute = COMPUTES_AS.get(dtype, dtype)
        for attempt in range(6):
            expr = self.tree(compute, scope, max(0, depth - attempt // 2))
            fitted = self.fit(expr, compute, limit)
            if fitted is not None:
                return fitted if dtype == compute else Expr("cast", dtype, (fitted,))
        return Expr("const", dtype, (), 1)

    def fit(self, expr: Expr, dtype: str, limit: Bound) -> Expr | None:
        """`expr`, clamped and floored as far as `limit` needs it; None if it is not exact."""
        try:
            bound = self.ranges.bound_of(expr)
            if not is_float(dtype):
                if limit.magnitude >= full(dtype).magnitude or bound.magnitude <= limit.magnitude:
                    return expr
                if dtype.startswith("u"):
                    return Expr(
                        "floormod", dtype, (expr, Expr("typed", dtype, (), int(limit.magnitude)))
                    )
                return Expr("clamp", dtype, (expr,), int(limit.magnitude))
            if self.program.exact and bound.exponent < limit.exponent:
                expr = Expr("floor", dtype, (expr,))
            if self.ranges.bound_of(expr).magnitude > limit.magnitude:
                expr = Expr("clamp", dtype, (expr,), float(limit.magnitude))
            self.ranges.bound_of(expr)
        except Inexact:
            return None
        return expr

    # ---- Trees ----

    def tree(self, dtype: str, scope: _Scope, depth: int) -> Expr:
        rng = self.rng
        if depth <= 0 or rng.random() < 0.15:
            return self.leaf(dtype, scope)
        draw = rng.random()
        if draw < 0.5:
            a, b = (self.tree(dtype, scope, depth - 1) for _ in range(2))
            return Expr(rng.choice(ARITHMETIC), dtype, (a, b))
        if draw < 0.62:
            a, b = (self.tree(dtype, scope, depth - 1) for _ in range(2))
            return Expr("select", dtype, (a, b), self.indices.condition(scope.variables))
        if draw < 0.7 and (self.program.exact or not is_float(dtype)):
            args = tuple(self.tree(dtype, scope, depth - 2) for _ in range(4))
            return Expr("choose", dtype, args, rng.choice(COMPARES))
        if draw < 0.8:
            return self.converted(dtype, scope, depth - 1)
        inner = self.tree(dtype, scope, depth - 1)
        if not is_float(dtype):
            return self.integer_operation(dtype, inner, scope, depth)
        if not self.program.exact and rng.random() < 0.6 and dtype != "float64":
            return Expr("function", dtype, (inner,), rng.choice(sorted(FUNCTIONS)))
        rounds = ("floor", "ceil", "trunc") if self.program.exact else ()
        return Expr(rng.choice(("neg", "abs", "half", *rounds)), dtype, (inner,))

    def integer_operation(self, dtype: str, inner: Expr, scope: _Scope, depth: int) -> Expr:
        op = self.rng.choice((*INTEGER_ONLY, "neg", "abs"))
        if op in ("neg", "abs"):
            return Expr("neg" if dtype.startswith("u") else op, dtype, (inner,))
        if op in ("shl", "shr") and self.rng.random() < 0.3:  # by what may be the width or more
            amount = self.tree(dtype, scope, depth - 1)
            amount = Expr("and", dtype, (amount, Expr("typed", dtype, (), 31)))
            return Expr(f"{op} by", dtype, (inner, amount))
        if op in ("shl", "shr"):
            return Expr(op, dtype, (inner,), self.rng.choice((0, 1, 3, 7, INTEGERS[dtype] - 1)))
        if op in ("and", "or", "xor") or self.rng.random() < 0.2:
            return Expr(op, dtype, (inner, self.tree(dtype, scope, depth - 1)))
        divisors = (1, 2, 3, 7, 16) if dtype.startswith("u") else (-3, 1, 2, 3, 7, 16)
        return Expr(op, dtype, (inner, Expr("typed", dtype, (), self.rng.choice(divisors))))

    def converted(self, dtype: str, scope: _Scope, depth: int) -> Expr:
        """A value of another type, cast; into floats only what they hold exactly. Half of the time
        operands of different types meet in it."""
        others = (
            "int32",
            "int8",
            "uint8",
            "int16",
            "float32",
            "float16",
            "bfloat16",
            "int64",
            "uint32",
            "uint16",
            "uint64",
        )
        if not self.program.exact:
            others = ("float32", "float16", "bfloat16") if is_float(dtype) else ("int32", "uint8")
        other = self.rng.choice([o for o in others if o != dtype] or [dtype])
        expr = self.tree(other, scope, depth)
        if self.rng.random() < 0.5:
            expr = self.mixed(other, others, scope, depth)
        inner = self.fit(expr, expr.dtype, self.conversion_limit(expr.dtype, dtype))
        return Expr("cast", dtype, (inner or Expr("typed", other, (), 3),))

    def mixed(self, dtype: str, others: tuple[str, ...], scope: _Scope, depth: int) -> Expr:
        """An operation on a value of `dtype` and a number or a value of another type."""
        rng = self.rng
        operands = [self.small(dtype, scope, depth - 1)]
        if rng.random() < 0.5:
            number = rng.choice((2, -3, 200, 2.5, -0.5, 4.0))
            operands.append(Expr("literal", literal_dtype(number), (), number))
        else:
            operands.append(self.small(rng.choice(others), scope, depth - 1))
        rng.shuffle(operands)
        met = meet(operands[0].dtype, operands[1].dtype)
        return Expr(f"mixed {rng.choice(MIXED)}", met, tuple(operands))

    def small(self, dtype: str, scope: _Scope, depth: int) -> Expr:
        """A value that the narrow types hold, so that it can be converted."""
        fitted = self.fit(self.tree(dtype, scope, depth), dtype, Bound(16))
        return fitted or Expr("typed", dtype, (), 3)

    def conversion_limit(self, source: str, dtype: str) -> Bound:
        """What is converted; of integers half of the time all values that the result can hold."""
        is_held = not is_float(source) and (
            not is_float(dtype) or INTEGERS[source] <= FLOATS[dtype][0]
        )
        return full(source) if is_held and self.rng.random() < 0.5 else Bound(64)

    def leaf(self, dtype: str, scope: _Scope) -> Expr:
        rng = self.rng
        readable = [b for b in scope.sources if COMPUTES_AS.get(b.dtype, b.dtype) == dtype]
        draw = rng.random()
        if draw < 0.7 and readable:
            return self.load(rng.choice(readable), dtype, scope)
        if draw < 0.75 and (same := [s for s in scope.scalars if s.dtype == dtype]):
            return rng.choice(same)
        if draw < 0.85 and scope.variables:
            var = rng.choice(scope.variables)
            if var.count <= 100:
                return Expr("index", dtype, (), (var.name, var.count))
        if is_float(dtype):
            scale = 0.5 if self.program.exact else 0.37
            return Expr("typed", dtype, (), rng.randint(-4, 4) * scale)
        return Expr("typed", dtype, (), rng.randint(0 if dtype.startswith("u") else -5, 9))

    def load(self, buffer: Buffer, dtype: str, scope: _Scope) -> Expr:
        indices = scope.forced.get(buffer.name)
        if indices is None:
            indices = self.indices.read(buffer, scope.variables)
        loaded = Expr("load", buffer.dtype, (), (buffer.name, indices))
        return loaded if buffer.dtype == dtype else Expr("cast", dtype, (loaded,))


class _Scope:
    """What an expression may use."""

    def __init__(
        self, variables: list[Var], sources: list[Buffer], forced: dict[str, tuple[str, ...]],
        scalars: list[Expr],
    ) -> None:  # fmt: skip
        self.variables = variables
        self.sources = sources
        self.forced = forced
        self.scalars = scalars
