"""Minimax polynomials of the GPU's math library, as C++ tables.

    python scripts/fit_math_polynomials.py > lib/Codegen/Nvptx/DeviceMath/Polynomials.h

Each function is written `base(x) + factor(x) q(t(x))`, with an exact base, and q is fitted by
Remez' exchange such that the error relative to `size(x)` is least. Degrees are the smallest with an
error of about 2^-28 for float and 2^-57 for double, well under the rounding of the last addition.
Needs mpmath; only who changes a polynomial has to run it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mpmath as mp
import numpy as np

mp.mp.dps = 50
Real = Callable[[mp.mpf], mp.mpf]


@dataclass
class Fit:
    """What to fit, where, and the number of coefficients for float and double."""

    name: str
    comment: str
    function: Real
    base: Real
    factor: Real
    variable: Real
    interval: tuple[float, float]
    terms: tuple[int, int]
    size: Real | None = None


def fit(job: Fit, terms: int, interval: tuple[mp.mpf, mp.mpf]) -> tuple[list[mp.mpf], mp.mpf]:
    """Coefficients, lowest first, and the greatest error relative to `size`."""
    low, high = (mp.mpf(end) for end in interval)
    size = job.size or job.function

    def at_angle(angle: mp.mpf) -> mp.mpf:
        return (low + high) / 2 + (high - low) / 2 * mp.cos(angle)

    grid = [at_angle(mp.pi * (k + mp.mpf("0.5")) / (24 * terms)) for k in range(24 * terms)]
    rows = []
    for x in grid:
        weight = 1 / abs(size(x))
        t, scale = job.variable(x), job.factor(x) * weight
        rows.append(
            ([scale * t**k for k in range(terms)], (job.function(x) - job.base(x)) * weight)
        )
    picked = [round((k + 0.5) * len(grid) / (terms + 1)) for k in range(terms + 1)]
    for _ in range(30):
        matrix = mp.matrix(terms + 1, terms + 1)
        target = mp.matrix(terms + 1, 1)
        for i, index in enumerate(picked):
            for k in range(terms):
                matrix[i, k] = rows[index][0][k]
            matrix[i, terms] = (-1) ** i
            target[i] = rows[index][1]
        solution = mp.lu_solve(matrix, target)
        errors = [
            value - mp.fsum(row[k] * solution[k] for k in range(terms)) for row, value in rows
        ]
        peaks = _peaks(errors, terms + 1)
        if peaks is None or peaks == picked:
            break
        picked = peaks
    return [solution[k] for k in range(terms)], max(map(abs, errors))


def _peaks(errors: list[mp.mpf], wanted: int) -> list[int] | None:
    """The greatest error of each run of one sign, the smallest at the ends left out."""
    peaks: list[int] = []
    for index, error in enumerate(errors):
        if peaks and (errors[peaks[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[peaks[-1]]):
                peaks[-1] = index
        else:
            peaks.append(index)
    while len(peaks) > wanted:
        peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
    return peaks if len(peaks) == wanted else None


TWO_THIRDS = mp.mpf(2) / 3
LOG_2 = mp.log(2)


def _log_of_quotient(s: mp.mpf) -> mp.mpf:
    return mp.log((1 + s) / (1 - s))


TINY = mp.mpf(2) ** -40  # in place of 0, where the quotients are not defined
FITS = [
    Fit("kExp", "e^r = 1 + r + r^2 q(r), |r| <= ln(2) / 2",
        mp.exp, lambda r: 1 + r, lambda r: r * r, lambda r: r, (-0.34658, 0.34658), (5, 10),
        ),
    Fit("kExp2", "2^f = 1 + f q(f), |f| <= 1/2",
        lambda f: mp.mpf(2) ** f, lambda f: mp.mpf(1), lambda f: f, lambda f: f, (-0.5, 0.5),
        (6, 11)),
    Fit("kLog", "log(1 + f) = f + f^2 q(f), -1/3 <= f <= 1/3",
        mp.log1p, lambda f: f, lambda f: f * f, lambda f: f, (-0.33334, 0.33334), (9, 21),
        ),
    Fit("kLogOfQuotient", "log((1 + s) / (1 - s)) = 2 s + 2/3 s^3 + s^5 q(s^2), |s| <= 0.1716",
        _log_of_quotient, lambda s: 2 * s + TWO_THIRDS * s**3, lambda s: s**5, lambda s: s * s,
        (TINY, 0.17158), (3, 7)),
    Fit("kSin", "sin(r) = r + r^3 q(r^2), |r| <= pi/4",
        mp.sin, lambda r: r, lambda r: r**3, lambda r: r * r, (TINY, 0.7855), (3, 6)),
    Fit("kCos", "cos(r) = 1 - r^2 / 2 + r^4 q(r^2), |r| <= pi/4",
        mp.cos, lambda r: 1 - r * r / 2, lambda r: r**4, lambda r: r * r, (TINY, 0.7855), (3, 6)),
    Fit("kTanh", "tanh(x) = x + x^3 q(x^2), |x| <= 0.55",
        mp.tanh, lambda x: x, lambda x: x**3, lambda x: x * x, (TINY, 0.55), (5, 11)),
    Fit("kSinh", "sinh(x) = x + x^3 q(x^2), |x| <= 1",
        mp.sinh, lambda x: x, lambda x: x**3, lambda x: x * x, (TINY, 1), (4, 7)),
    Fit("kAtan", "atan(x) = x + x^3 q(x^2), |x| <= 1",
        mp.atan, lambda x: x, lambda x: x**3, lambda x: x * x, (TINY, 1), (9, 20)),
    Fit("kErf", "erf(x) = x + x q(x^2), |x| <= 1",
        mp.erf, lambda x: x, lambda x: x, lambda x: x * x, (TINY, 1), (7, 12)),
    Fit("kErfc", "erfc(x) = exp(-q(x)), 1 <= x <= 4 (float), 6 (double)",
        lambda x: -mp.log(mp.erfc(x)), lambda x: mp.mpf(0), lambda x: mp.mpf(1), lambda x: x,
        (1, 4), (7, 18), lambda x: 1 / mp.erfc(x)),
]  # fmt: skip


def _table(values: list[mp.mpf], number: type) -> str:
    rounded = [number(str(value)) for value in values]
    suffix = "f" if number is np.float32 else ""
    texts = [float(value).hex() + suffix for value in rounded]
    lines, line = [], "   "
    for text in texts:
        if len(line) + len(text) > 96:
            lines.append(line)
            line = "   "
        line += f" {text},"
    return "\n".join([*lines, line]).rstrip(",")


def main() -> None:
    """Prints the header."""
    print("//===- Polynomials.h - coefficients, lowest first; by fit_math_polynomials.py ---===//")
    print("\n// clang-format off\n")
    print("#ifndef TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_POLYNOMIALS_H")
    print("#define TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_POLYNOMIALS_H\n")
    print("namespace tilewright::devicemath {\n\ntemplate <class F> struct Polynomials;")
    for column, number in enumerate((np.float32, np.float64)):
        name = ("float", "double")[column]
        print(f"\ntemplate <> struct Polynomials<{name}> {{")
        for job in FITS:
            interval = job.interval
            if job.name == "kErfc" and name == "double":
                interval = (1, 6)
            coefficients, error = fit(job, job.terms[column], interval)
            print(f"  // {job.comment}; error 2^{float(mp.log(error, 2)):.1f}")
            print(f"  static constexpr {name} {job.name}[] = {{")
            print(_table(coefficients, number) + "};")
        print("};")
    print("\n} // namespace tilewright::devicemath\n")
    print("#endif // TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_POLYNOMIALS_H")


if __name__ == "__main__":
    main()
