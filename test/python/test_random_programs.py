"""Random programs: the kernel against Python itself, and tile statements against numpy."""

from __future__ import annotations

import numpy as np
import tilewright
import tilewright.language as T
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from python_meaning import SIZE, assert_same_meaning, function_from_source

SETTINGS = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)

# ---- Control flow: source text in the common subset of Python and the kernel language ----

NAMES = ("x", "y", "z")


@st.composite
def expressions(draw, depth: int = 2) -> str:
    """An integer expression; values stay small, so that no width matters."""
    kind = draw(st.integers(0, 9 if depth else 2))
    inner = expressions(depth - 1) if depth else st.just("1")
    if kind == 0:
        return str(draw(st.integers(-9, 9)))
    if kind == 1:
        return draw(st.sampled_from(NAMES))
    if kind == 2:
        return f"A[{draw(st.integers(0, SIZE - 1))}]"
    if kind == 3:
        return f"A[({draw(inner)}) % {SIZE}]"
    if kind == 4:
        return f"({draw(inner)} if {draw(conditions(depth - 1))} else {draw(inner)})"
    if kind == 5:
        return f"{draw(st.sampled_from(['min', 'max']))}({draw(inner)}, {draw(inner)})"
    if kind == 6:
        divisor = draw(st.sampled_from([-3, 2, 7]))
        return f"(({draw(inner)}) {draw(st.sampled_from(['//', '%']))} {divisor})"
    if kind == 7:
        return f"(({draw(inner)}) * ({draw(inner)}) % 97)"
    return f"(({draw(inner)}) {draw(st.sampled_from(['+', '-']))} ({draw(inner)}))"


@st.composite
def conditions(draw, depth: int = 1) -> str:
    """A condition."""
    kind = draw(st.integers(0, 4 if depth > 0 else 1))
    compare = st.sampled_from(["<", "<=", "==", "!=", ">", ">="])
    if kind <= 1:
        return f"{draw(expressions(1))} {draw(compare)} {draw(expressions(1))}"
    if kind == 2:
        a, b, c = (draw(expressions(0)) for _ in range(3))
        return f"{a} {draw(compare)} {b} {draw(compare)} {c}"
    if kind == 3:
        return f"not ({draw(conditions(depth - 1))})"
    joint = draw(st.sampled_from(["and", "or"]))
    return f"({draw(conditions(depth - 1))} {joint} {draw(conditions(depth - 1))})"


@st.composite
def blocks(draw, depth: int, in_loop: bool, loops: int) -> list[str]:
    """A list of lines; `loops` numbers the loop variables."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 4 if depth == 3 else 3))):
        lines += draw(statements(depth, in_loop, loops))
    return lines


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


@st.composite
def statements(draw, depth: int, in_loop: bool, loops: int) -> list[str]:
    """One statement as lines."""
    kind = draw(st.integers(0, 9 if depth else 4))
    name = draw(st.sampled_from(NAMES))
    if kind <= 1:
        return [f"{name} = {draw(expressions())}"]
    if kind == 2:
        return [f"B[({draw(expressions(1))}) % {SIZE}] = {draw(expressions())}"]
    if kind == 3:
        return [f"{name} {draw(st.sampled_from(['+=', '-=']))} {draw(expressions(1))}"]
    if kind == 4:
        if in_loop and draw(st.booleans()):
            jump = draw(st.sampled_from(["break", "continue", "return"]))
            return [f"if {draw(conditions())}:", f"    {jump}"]
        # Two different names: CPython 3.11 itself gets `x, x = 1, x` wrong.
        other = draw(st.sampled_from([n for n in NAMES if n != name]))
        return [f"{name}, {other} = {draw(expressions(1))}, {name}"]
    if kind <= 6:
        lines = [f"if {draw(conditions())}:", *indented(draw(blocks(depth - 1, in_loop, loops)))]
        if draw(st.booleans()):
            lines += ["else:", *indented(draw(blocks(depth - 1, in_loop, loops)))]
        return lines
    variable = f"i{loops}"
    body = indented(draw(blocks(depth - 1, True, loops + 1)))
    if kind == 7:
        head = draw(st.sampled_from(["range(4)", "range(5, 0, -2)", "(3, 1, 2)", "range(2, 2)"]))
        lines = [f"for {variable} in {head}:", f"    B[{variable}] += 1", *body]
    elif kind == 8:
        lines = [f"for {variable} in range(A[0] % 5):", *body]
    else:
        lines = [f"{variable} = 0", f"while {variable} < 4 and {draw(conditions())}:"]
        lines += [f"    {variable} += 1", *body]
    if draw(st.booleans()):
        lines += ["else:", f"    {name} = {draw(expressions(1))}"]
    return lines


@st.composite
def programs(draw) -> str:
    """A whole function."""
    body = [f"{name} = {number}" for number, name in enumerate(NAMES)]
    body += draw(blocks(3, False, 0))
    if draw(st.booleans()):
        body += [f"if {draw(conditions())}:", "    return"]
        body += draw(blocks(1, False, 0))
    body += ["B[0] = x % 1000", "B[1] = y % 1000", "B[2] = z % 1000"]
    return "\n".join(["def body(A, B):", *indented(body)]) + "\n"


@SETTINGS
@given(programs(), st.lists(st.integers(-9, 9), min_size=SIZE, max_size=SIZE))
def test_control_flow_means_what_python_means(source: str, values: list[int]) -> None:
    assert_same_meaning(function_from_source(source), values)


# ---- Tiles ----

STEPS = st.one_of(
    st.tuples(st.just("add"), st.integers(-5, 5)),
    st.tuples(st.just("scale"), st.integers(-3, 3)),
    st.tuples(st.just("mask"), st.integers(-4, 4)),
    st.tuples(st.just("cumsum"), st.integers(0, 1), st.booleans()),
    st.tuples(st.just("center"), st.sampled_from(["sum", "max", "min", "absmax"])),
    st.tuples(st.just("rotate"), st.integers(0, 3)),
    st.tuples(
        st.just("square"),
    ),
    st.tuples(
        st.just("alternate"),
    ),
)


def make_kernel(rows: int, columns: int, dtype: str, steps: list[tuple]):
    """A kernel that applies `steps` to a tile; the loop over them runs while tracing."""

    @T.prim_func
    def main(A: T.Tensor((rows, columns), dtype), B: T.Tensor((rows, columns), dtype)):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((rows, columns), dtype)
            t = T.alloc_shared((rows, columns), dtype)
            r = T.alloc_fragment((rows,), dtype)
            f = T.alloc_fragment((rows, columns), dtype)
            T.copy(A, s)
            for name, *arguments in steps:
                if name == "add":
                    for i, j in T.Parallel(rows, columns):
                        s[i, j] += arguments[0] + i - j
                elif name == "scale":
                    for i, j in T.Parallel(rows, columns):
                        s[i, j] = s[i, j] * arguments[0] + A[i, j]
                elif name == "mask":
                    for i, j in T.Parallel(rows, columns):
                        s[i, j] = T.if_then_else(s[i, j] > arguments[0] and i != j, s[i, j], 0)
                elif name == "cumsum":
                    T.cumsum(s, dim=arguments[0], reverse=arguments[1])
                elif name == "center":
                    T.copy(s, f)
                    getattr(T, f"reduce_{arguments[0]}")(f, r, dim=1)
                    for i, j in T.Parallel(rows, columns):
                        s[i, j] = f[i, j] - r[i]
                elif name == "rotate":
                    T.copy(s, t)
                    for i, j in T.Parallel(rows, columns):
                        s[i, (j + arguments[0]) % columns] = t[i, j]
                elif name == "square":
                    for i in T.serial(rows):
                        for j in T.Parallel(columns):
                            s[i, j] = s[i, j] * s[i, j]
                else:
                    for i, j in T.Parallel(rows, columns):
                        if (i + j) % 2 == 0:
                            s[i, j] = -s[i, j]
                for i, j in T.Parallel(rows, columns):
                    s[i, j] = T.clamp(s[i, j], -50, 50)
            T.copy(s, B)

    return main


REDUCE = {
    "sum": np.sum, "max": np.max, "min": np.min, "absmax": lambda a, axis: np.abs(a).max(axis),
}  # fmt: skip


def with_numpy(a: np.ndarray, steps: list[tuple]) -> np.ndarray:
    """The same steps on a whole array."""
    i, j = np.indices(a.shape)
    s = a.copy()
    for name, *arguments in steps:
        if name == "add":
            s = s + arguments[0] + i - j
        elif name == "scale":
            s = s * arguments[0] + a
        elif name == "mask":
            s = np.where((s > arguments[0]) & (i != j), s, 0)
        elif name == "cumsum":
            axis, reverse = arguments
            s = np.flip(np.flip(s, axis).cumsum(axis), axis) if reverse else s.cumsum(axis)
        elif name == "center":
            s = s - REDUCE[arguments[0]](s, axis=1)[:, None]
        elif name == "rotate":
            s = np.roll(s, arguments[0], axis=1)
        elif name == "square":
            s = s * s
        else:
            s = np.where((i + j) % 2 == 0, -s, s)
        s = np.clip(s, -50, 50)
    return s


@SETTINGS
@given(
    st.integers(1, 9), st.integers(1, 9), st.sampled_from(["int32", "float32", "int64"]),
    st.lists(STEPS, min_size=1, max_size=6), st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_tile_programs_agree_with_numpy(rows, columns, dtype, steps, seed) -> None:
    a = np.random.default_rng(seed).integers(-9, 10, (rows, columns)).astype(dtype)
    expected = with_numpy(a, steps).astype(dtype)
    program = make_kernel(rows, columns, dtype, steps)
    for device in ("interp", "cpu", "vgpu:sm_80"):
        b = np.full((rows, columns), -777, dtype)
        kernel = tilewright.compile(program, device=device)
        kernel.options["strict"] = True
        kernel(a, b)
        np.testing.assert_array_equal(b, expected, err_msg=device)
