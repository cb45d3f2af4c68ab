"""The engines of the conformance matrix, how a kernel runs on each, and how bits are compared.

from conformance.engines import ENGINES, run, kernel_of, differences
results = run(ENGINES["sm_80"], kernel, *arrays)     # copies of the arrays after the call
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import tilewright
import tilewright.language as T

# ---- Dtypes ----

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
FLOAT8 = ("float8_e4m3fn", "float8_e5m2")
FLOATS = ("float16", "bfloat16", "float32", "float64")
#: Stored narrower than they are computed with: `tfloat32` in the bits of a float32.
STORED = (*FLOAT8, "tfloat32")
DTYPES = ("bool", *INTEGERS, *FLOAT8, *FLOATS, "tfloat32")


def numpy_of(dtype: str) -> np.dtype:
    """How numpy holds a dtype; a tfloat32 is a float32."""
    return np.dtype(getattr(ml_dtypes, dtype, "float32" if dtype == "tfloat32" else dtype))


def bits_of_dtype(dtype: str) -> int:
    """The width of an element in memory."""
    return 8 * numpy_of(dtype).itemsize


def is_float(dtype: str) -> bool:
    return "float" in dtype


def from_bits(bits: np.ndarray, dtype: str) -> np.ndarray:
    """Bit patterns as elements."""
    return bits.astype(f"u{numpy_of(dtype).itemsize}").view(numpy_of(dtype))


# ---- Engines ----


def _has_avx512() -> bool:
    """Whether this processor runs AVX-512, as Linux tells it."""
    try:
        return "avx512f" in Path("/proc/cpuinfo").read_text().split()
    except OSError:
        return False


@dataclass(frozen=True)
class Engine:
    """A device, and the environment that chooses its variant."""

    name: str
    device: str
    environment: tuple[tuple[str, str], ...] = ()
    #: Why this machine cannot run it; empty if it can.
    missing: str = ""

    @property
    def is_gpu(self) -> bool:
        return self.device.startswith("vgpu:")


ENGINES: dict[str, Engine] = {
    engine.name: engine
    for engine in (
        Engine("interp", "interp"),
        Engine("cpu-avx2", "cpu", (("TILEWRIGHT_CPU", "avx2"),)),
        Engine(
            "cpu-avx512",
            "cpu",
            missing="" if _has_avx512() else "this processor has no AVX-512",
        ),
        Engine("sm_80", "vgpu:sm_80"),
        Engine("sm_90", "vgpu:sm_90"),
        Engine("sm_90a", "vgpu:sm_90a"),
    )
}
#: Those that can run here, and the ones of `make test`.
RUNNABLE = tuple(engine for engine in ENGINES.values() if not engine.missing)
QUICK = tuple(engine for engine in RUNNABLE if engine.name in ("interp", "cpu-avx2", "sm_80"))


@contextmanager
def environment_of(engine: Engine) -> Iterator[None]:
    """The engine's variables are set while it compiles and runs; code is always compiled anew."""
    wanted = {"TILEWRIGHT_CPU": None, "TILEWRIGHT_CACHE": "0", **dict(engine.environment)}
    saved = {name: os.environ.get(name) for name in wanted}
    _set_all(wanted)
    try:
        yield
    finally:
        _set_all(saved)


def _set_all(variables: dict[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def run(engine: Engine, kernel: Any, *arguments: Any) -> list[Any]:
    """The arguments after a call, arrays as copies; nothing may be found."""
    with environment_of(engine):
        compiled = tilewright.compile(kernel, device=engine.device)
        copies = [np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]
        compiled(*copies)
        findings = [found for found in compiled.findings if found["severity"] != "note"]
    assert not findings, f"{engine.name}: {findings[0]}"
    return copies


def kernel_of(name: str, text: str, **names: Any) -> Any:
    """The kernel `main` of a program that a test writes as text; `names` are in its scope."""
    file = f"<conformance {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"T": T, "tilewright": tilewright, "np": np, **names}
    exec(compile(text, file, "exec"), scope)  # kernels are read from their text
    return scope["main"]


# ---- Comparison ----


def canonical_bits(array: np.ndarray, dtype: str) -> np.ndarray:
    """Bit patterns as unsigned integers, one pattern for all NaNs."""
    bits = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").copy()
    if is_float(dtype):
        with np.errstate(invalid="ignore"):  # of signalling NaNs
            bits[np.isnan(array.astype(np.float64))] = np.iinfo(bits.dtype).max
    return bits


def differences(got: np.ndarray, want: np.ndarray, dtype: str) -> np.ndarray:
    """The flat places where two arrays differ in a bit; a NaN equals every NaN."""
    return np.flatnonzero(canonical_bits(got, dtype).ravel() != canonical_bits(want, dtype).ravel())


def assert_equal_bits(got: np.ndarray, want: np.ndarray, dtype: str, what: str) -> None:
    """Fails with the first places that differ."""
    wrong = differences(got, want, dtype)
    shown = [(int(i), got.ravel()[i], want.ravel()[i]) for i in wrong[:5]]
    assert not shown, f"{what}: {len(wrong)} of {got.size} differ: (place, got, expected) {shown}"


# ---- Values ----


def all_patterns(dtype: str) -> np.ndarray:
    """Every pattern of a dtype of 8 or 16 bits; of bool, False and True."""
    if dtype == "bool":
        return np.array([False, True])
    return from_bits(np.arange(2 ** bits_of_dtype(dtype), dtype=np.uint32), dtype)


def _integer_edges(dtype: str) -> list[int]:
    info = np.iinfo(dtype)
    near = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, -1, 2, -2, 3, -3, 7, -7, 100]
    powers = [s * 2**k + d for k in range(1, info.bits) for d in (-1, 0, 1) for s in (1, -1)]
    return sorted({v for v in near + powers if info.min <= v <= info.max})


#: Numbers at the edges of the formats, of casts to integers and of rounding, with both signs.
_FLOAT_EDGES = [
    0.0, np.inf, np.nan, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 1 / 3, 10.0, 255.5, 127.5, 448.0, 464.0,
    465.0, 480.0, 57344.0, 61440.0, 61441.0, 65504.0, 65519.0, 65520.0, 65536.0, 3.3895e38,
    3.39e38, 3.4028234663852886e38, 3.4028235677973366e38, 3.5e38, 1.7976931348623157e308, 1e300,
    2.0**24, 2.0**24 + 2, 2.0**31, 2.0**31 - 1, 2.0**32, 2.0**53, 2.0**63, 2.0**64, 1e-45, 1.4e-45,
    2.0**-126, 2.0**-127, 2.0**-133, 2.0**-134, 2.0**-149, 2.0**-150, 1.5 * 2.0**-150, 2.0**-1074,
    2.0**-1022, 6e-8, 2.0**-24, 2.0**-25, 1.5 * 2.0**-25, 2.0**-14, 2.0**-9, 2.0**-10, 2.0**-16,
    2.0**-17, 1.5 * 2.0**-17, 1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-8, 1 + 3 * 2.0**-8,
    1 + 2.0**-12, 1 + 2.0**-24, 1 + 3 * 2.0**-24, 1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-8 + 2.0**-40,
]  # fmt: skip


def ties(dtype: str) -> np.ndarray:
    """Numbers half way between two of a format of fewer digits, and their neighbours: what a second
    rounding would take elsewhere."""
    made: set[int | float] = set()
    for digits in (3, 4, 8, 11, 24, 53):
        for kept in (2 ** (digits - 1), 2 ** (digits - 1) + 1, 2**digits - 1):
            for shift in (0, 1, 7, 20, 37):
                made |= {s * ((2 * kept + 1) * 2**shift + d) for d in (-1, 0, 1) for s in (1, -1)}
    if not is_float(dtype):
        info = np.iinfo(dtype)
        return np.array(sorted(v for v in made if info.min <= v <= info.max), dtype)
    with np.errstate(all="ignore"):
        return np.array(sorted(made), np.float64).astype(numpy_of(dtype))


def edges(dtype: str) -> np.ndarray:
    """Values at and around the edges of a dtype."""
    if dtype == "bool":
        return np.array([False, True])
    if not is_float(dtype):
        return np.array(_integer_edges(dtype), dtype)
    with np.errstate(all="ignore"):
        values = np.array([s * v for v in _FLOAT_EDGES for s in (1, -1)]).astype(numpy_of(dtype))
    return values


def random_values(dtype: str, count: int, seed: int) -> np.ndarray:
    """Half of any bit pattern, half of everyday size."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, count).astype(bool)
    bits = rng.integers(0, 2 ** bits_of_dtype(dtype), count, dtype=np.uint64, endpoint=False)
    values = from_bits(bits, dtype)
    half = count // 2
    everyday = rng.uniform(-12, 12, half) if is_float(dtype) else rng.integers(0, 20, half)
    values[:half] = everyday.astype(numpy_of(dtype))
    return values


def operands(dtype: str, count: int, seed: int = 0) -> np.ndarray:
    """`count` values: the edges first, then random ones; at least all edges."""
    special = edges(dtype)
    return np.concatenate([special, random_values(dtype, max(count - len(special), 0), seed)])
