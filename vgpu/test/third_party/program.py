"""A third-party program: a kernel in a PTX file, how its inputs are made, what must come out.

A program states values only; how it is launched is `driver.py`'s business, so that the same table
serves the tests, the mutants and the benchmarks.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

PTX_FOLDER = Path(__file__).resolve().parent / "ptx"


@dataclass
class TensorMapArg:
    """A TMA descriptor of `array`; dimensions in numpy's order, the innermost last."""

    array: np.ndarray
    box: tuple[int, ...]
    swizzle: str = "none"  # "none", "32B", "64B", "128B"
    oob_fill: str = "zeros"  # "zeros", "nan"


@dataclass
class Close:
    """An expectation with a bound, |got - want| <= atol + rtol * |want|, for inexact functions."""

    array: np.ndarray
    rtol: float = 0.0
    atol: float = 0.0


Argument = np.ndarray | np.generic | TensorMapArg


@dataclass
class Case:
    """The arguments of one launch, and the expected contents of some of them afterwards."""

    args: list[Argument]
    expect: dict[int, np.ndarray | Close]
    # For results that are not one fixed array (tickets): gets the arrays, asserts what it must.
    check: Callable[[list], None] | None = None
    # Element type of an argument that numpy passes as raw bits: index -> dtype.
    view: dict[int, np.dtype] = field(default_factory=dict)

    def arrays(self) -> list:
        return [a.array if isinstance(a, TensorMapArg) else a for a in self.args]

    def verify(self) -> None:
        """Raises AssertionError naming the argument and the first differing element."""
        for index, want in self.expect.items():
            got = self.arrays()[index]
            if index in self.view:
                got = got.view(self.view[index])
            _assert_same(f"argument {index}", got, want)
        if self.check:
            self.check(self.arrays())


def _assert_same(what: str, got: np.ndarray, want: np.ndarray | Close) -> None:
    rtol, atol = (want.rtol, want.atol) if isinstance(want, Close) else (0.0, 0.0)
    want = np.asarray(want.array if isinstance(want, Close) else want)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    if rtol or atol:
        a, b = got.astype(np.float64), want.astype(np.float64)
        same = (np.abs(a - b) <= atol + rtol * np.abs(b)) | (a == b) | (np.isnan(a) & np.isnan(b))
    else:
        same = (got == want) | ((got != got) & (want != want))  # NaN equals NaN
    if not same.all():
        first = tuple(int(i) for i in np.argwhere(~same)[0])
        raise AssertionError(
            f"{what}: {int((~same).sum())} of {same.size} elements differ, first at {first}: "
            f"got {got[first]!r}, expected {want[first]!r}"
        )


@dataclass
class Program:
    """One kernel with one launch shape."""

    name: str
    ptx: str  # file name without suffix, in ptx/
    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    make: Callable[[np.random.Generator], Case]
    arch: str = "sm_80"
    shared_bytes: int = 0  # dynamic
    # Kinds of findings the program deserves: real defects of its author's. Empty for a correct one.
    known_findings: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        return PTX_FOLDER / f"{self.ptx}.ptx"

    def case(self, seed: int = 0) -> Case:
        return self.make(np.random.default_rng(seed))


def kernel_lines(lines: list[str], entry: str) -> slice:
    """The lines of a kernel's body in a PTX module, braces included."""
    head = re.compile(rf"\.entry\s+{entry}\(")
    first = next(i for i, line in enumerate(lines) if head.search(line))
    while lines[first].strip() != "{":
        first += 1
    depth = 0
    for last in range(first, len(lines)):
        code = lines[last].split("//")[0]
        depth += code.count("{") - code.count("}")
        if depth == 0:
            return slice(first, last + 1)
    raise ValueError(f"the body of '{entry}' has no end")


PROGRAMS: list[Program] = []


def _dim3(extent: int | tuple[int, ...]) -> tuple[int, int, int]:
    extent = (extent,) if isinstance(extent, int) else tuple(extent)
    return (*extent, *(1,) * (3 - len(extent)))


def add_program(
    name, ptx, entry, grid, block, make, arch="sm_80", shared_bytes=0, known_findings=()
) -> None:
    assert all(p.name != name for p in PROGRAMS), f"two programs called {name}"
    PROGRAMS.append(
        Program(
            name, ptx, entry, _dim3(grid), _dim3(block), make, arch, shared_bytes, known_findings
        )
    )


def program(source: str, grid, block, archs=("sm_80",), shared_bytes=0, entry=None):
    """Registers the decorated maker for `entry` (its own name) of `source`, once an arch."""

    def register(make):
        for arch in archs:
            what = entry or make.__name__
            suffix = "" if arch == archs[0] else f"-{arch}"
            add_program(
                what + suffix, f"{source}.{arch}", what, grid, block, make, arch, shared_bytes
            )
        return make

    return register


def integers(rng: np.random.Generator, low: int, high: int, shape, dtype) -> np.ndarray:
    """Uniform integers of [low, high], exactly representable in `dtype`."""
    return rng.integers(low, high + 1, shape).astype(dtype)
