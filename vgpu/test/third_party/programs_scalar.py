"""Bits, integers, math functions and conversions: the reference works in exact Python integers."""

from fractions import Fraction

import ml_dtypes
import numpy as np
from program import Case, Close, program

f32, i32, u32 = np.float32, np.int32, np.uint32
M32, M64, M128 = 2**32 - 1, 2**64 - 1, 2**128 - 1


def _signed(x: int, bits: int = 32) -> int:
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def _quotient(a: int, b: int) -> int:
    """Truncating division, exact for any size."""
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def _edge_words(rng, count: int) -> np.ndarray:
    words = rng.integers(0, 2**32, count, dtype=u32)
    words[:8] = [0, 1, M32, 0x80000000, 0x7FFFFFFF, 2, 0x10000, 0xFF]
    return words


def _bit_tricks(x: int, y: int) -> list[int]:
    pair = x | y << 32
    byte = [pair >> (8 * k) & 0xFF for k in range(8)]

    def permute(selector):
        return sum(byte[selector >> (4 * k) & 7] << (8 * k) for k in range(4))

    def extract(signed):
        pos, length = y & 31, y >> 5 & 31
        if length == 0:
            return 0
        value = (x >> pos) & ((1 << length) - 1)
        sign = x >> min(pos + length - 1, 31) & 1
        have = min(length, 32 - pos)
        return value | ((M32 << have) & M32 if signed and sign else 0)

    def insert():
        pos, length = y & 31, x >> 7 & 15
        mask = (((1 << length) - 1) << pos) & M32
        return (y & ~mask) | (x << pos & mask)

    def lop3(table, c):
        return sum(
            (table >> ((x >> i & 1) << 2 | (y >> i & 1) << 1 | c >> i & 1) & 1) << i
            for i in range(32)
        )

    def dot(signed):
        lane = [(v >> 8 * k) & 0xFF for v in (x, y) for k in range(4)]
        if signed:
            lane = [_signed(v, 8) for v in lane]
        return sum(lane[k] * lane[4 + k] for k in range(4))

    return [
        x.bit_count(),
        32 - x.bit_length(),
        int(f"{x:032b}"[::-1], 2),
        (x & -x).bit_length(),
        permute(0x3715),
        permute(y & 0xFFFF),
        (pair << (y & 31)) >> 32 & M32,
        pair >> min(y & 63, 32) & M32,
        lop3(0xD4, x * 3 & M32),
        extract(False),
        extract(True),
        insert(),
        x.bit_length() - 1 & M32,
        dot(True) + (x ^ y) & M32,
        dot(False) + x & M32,
        abs(_signed(x) - _signed(y)) + 5 & M32,
    ]


@program("bits", grid=2, block=64)
def bit_tricks(rng):
    a, b = _edge_words(rng, 128), _edge_words(rng, 128)[::-1].copy()
    want = np.array([_bit_tricks(int(x), int(y)) for x, y in zip(a, b, strict=True)], u32)
    return Case([a, b, np.zeros((128, 16), u32)], {2: want})


@program("bits", grid=2, block=64)
def multiply(rng):
    a, b = _edge_words(rng, 128), _edge_words(rng, 128)[::-1].copy()

    def row(ux, uy):
        x, y = _signed(ux), _signed(uy)
        return [
            x * y >> 32,
            ux * uy >> 32,
            _signed(x, 24) * _signed(y, 24),
            x * y + 17,
            x + y >> 1,
            x + y + 1 >> 1,
            ux + uy >> 1,
            abs(x) - min(x, y) + max(ux, uy),
        ]

    want = np.array(
        [[v & M32 for v in row(int(x), int(y))] for x, y in zip(a, b, strict=True)], u32
    )
    return Case([a.view(i32), b.view(i32), np.zeros((128, 8), i32)], {2: want.view(i32)})


@program("bits", grid=2, block=64)
def divide(rng):
    a = _edge_words(rng, 128)
    b = rng.integers(1, 2**32, 128, dtype=u32) >> rng.integers(0, 32, 128).astype(u32)
    b[b == 0] = 3

    def row(ux, uy):
        x, y = _signed(ux), _signed(uy)
        q = _quotient(x, y)
        return [
            q,
            x - q * y,
            ux // uy,
            ux % uy,
            _quotient(x, 7) + ux // 10,
            _quotient(_signed(x, 16), _signed(y | 1, 16)),
        ]

    want = np.array(
        [[v & M32 for v in row(int(x), int(y))] for x, y in zip(a, b, strict=True)], u32
    )
    return Case([a.view(i32), b.view(i32), np.zeros((128, 6), i32)], {2: want.view(i32)})


@program("bits", grid=2, block=32)
def wide(rng):
    a = rng.integers(0, 2**64, 64, dtype=np.uint64)
    b = rng.integers(1, 2**64, 64, dtype=np.uint64) >> rng.integers(0, 60, 64).astype(np.uint64)
    b[b == 0] = 5
    a[:4] = [0, M64, 1 << 63, 1]

    def row(ux, uy):
        x, y, s = _signed(ux, 64), _signed(uy, 64), uy & 63
        return [
            x + y,
            x * y,
            x * y >> 64,
            ux * uy >> 64,
            _quotient(x, y),
            ux % uy,
            x >> s,
            (ux >> s) ^ (ux << s),
            ux.bit_count() * 100 + 64 - ux.bit_length(),
            int(f"{ux:064b}"[::-1], 2),
            x if x < y else y if ux < uy else 0,
            _signed(x) * _signed(y) + (y & M32),
        ]

    want = np.array(
        [[v & M64 for v in row(int(x), int(y))] for x, y in zip(a, b, strict=True)], np.uint64
    )
    return Case(
        [a.view(np.int64), b.view(np.int64), np.zeros((64, 12), np.int64)], {2: want.view(np.int64)}
    )


@program("bits", grid=1, block=64)
def carries(rng):
    a, b = (rng.integers(0, 2**64, (64, 2), dtype=np.uint64) for _ in range(2))
    a[:2] = [[M64, M64], [M64, 0]]
    b[:2] = [[1, 0], [M64, 5]]

    def row(x, y):
        x, y = int(x[0]) | int(x[1]) << 64, int(y[0]) | int(y[1]) << 64
        return [
            v >> s & M64 for v in ((x + y) & M128, (x - y) & M128, x * y & M128) for s in (0, 64)
        ]

    want = np.array([row(x, y) for x, y in zip(a, b, strict=True)], np.uint64)
    return Case([a, b, np.zeros((64, 6), np.uint64)], {2: want})


@program("bits", grid=2, block=64)
def narrow(rng):
    a = rng.integers(-128, 128, 128).astype(np.int8)
    b = rng.integers(0, 65536, 128).astype(np.uint16)
    x, y = a.astype(np.int64), b.astype(np.int64)
    want = {
        2: (x * 3 - y).astype(np.int8),
        3: ((y >> 3) + ((x << 2) & 0xFFFF)).astype(np.uint16),
        4: (x * y + y.astype(np.int8) - (y << 1).astype(np.int16)).astype(i32),
    }
    return Case([a, b, *(np.zeros(128, w.dtype) for w in want.values())], want)


@program("math", grid=2, block=64)
def math_f32(rng):
    x = rng.uniform(-100, 100, 128).astype(f32)
    d, m = x.astype(np.float64), np.abs(x).astype(np.float64)
    erf = np.vectorize(__import__("math").erf)
    whole = np.floor(x) + np.ceil(x * f32(0.5)) * 2 + np.rint(x * f32(0.25)) * 4 + np.trunc(x) * 8
    columns = [
        np.sin((x * f32(1000)).astype(np.float64)),
        np.cos(d),
        np.exp((x * f32(0.1)).astype(np.float64)),
        np.log((np.abs(x) + f32(1e-3)).astype(np.float64)),
        np.tanh((x * f32(0.05)).astype(np.float64)),
        m**1.5,
        np.sqrt(m),
        1 / np.sqrt((np.abs(x) + f32(1)).astype(np.float64)),
        d / (np.abs(x) + f32(2)).astype(np.float64),
        erf((x * f32(0.05)).astype(np.float64)),
        np.fmod(x, f32(3)).astype(np.float64),
        whole.astype(np.float64),
    ]
    want = Close(np.stack(columns, 1), rtol=6e-7, atol=2e-7)
    return Case([x, np.zeros((128, 12), f32)], {1: want})


@program("math", grid=2, block=64)
def math_approximate(rng):
    x = rng.uniform(-100, 100, 128).astype(f32)
    m = np.abs(x).astype(np.float64)
    small = (x * f32(0.03)).astype(np.float64)
    columns = [
        np.sin(small),
        np.cos(small),
        np.exp((x * f32(0.1)).astype(np.float64)),
        np.log((np.abs(x) + f32(1e-3)).astype(np.float64)),
        x / (m + 2),
        1 / np.sqrt((np.abs(x) + f32(1)).astype(np.float64)),
        np.tanh((x * f32(0.05)).astype(np.float64)),
        1 / (np.abs(x) + f32(1)).astype(np.float64),
    ]
    want = np.stack(columns, 1)
    got = np.zeros((128, 8), f32)

    def check(arrays):  # bounds of the PTX ISA; tanh.approx has 2^-11
        error = np.abs(arrays[1] - want)
        assert (error[:, :6] <= 2e-6 * np.abs(want[:, :6]) + 6e-7).all(), error[:, :6].max(0)
        assert (error[:, 6] <= 2**-10.9 * np.abs(want[:, 6]) + 1e-9).all(), error[:, 6].max()
        assert (error[:, 7] <= 2**-23 * 1.1 * np.abs(want[:, 7])).all(), error[:, 7].max()

    return Case([x, got], {}, check=check)


def _rounded(value: Fraction, mode: str) -> np.float32:
    """The f32 next to an exact value in the given direction (rn, rz, rd, ru)."""
    near = f32(float(value)) if value else f32(0)
    candidates = {
        float(c) for c in (near, np.nextafter(near, f32(-np.inf)), np.nextafter(near, f32(np.inf)))
    }
    below = max(c for c in candidates if Fraction(c) <= value)
    above = min(c for c in candidates if Fraction(c) >= value)
    if mode == "rz":
        mode = "rd" if value > 0 else "ru"
    if mode == "rd":
        return f32(below)
    if mode == "ru":
        return f32(above)
    low, high = value - Fraction(below), Fraction(above) - value
    if low != high:
        return f32(below if low < high else above)
    even = f32(below).view(u32) % 2 == 0
    return f32(below if even else above)


@program("math", grid=2, block=64)
def math_rounding(rng):
    a = (rng.standard_normal(128) * np.exp2(rng.integers(-12, 12, 128))).astype(f32)
    b = (rng.standard_normal(128) * np.exp2(rng.integers(-12, 12, 128))).astype(f32)
    want = np.zeros((128, 12), f32)
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        p, q = Fraction(float(x)), Fraction(float(y))
        row = [_rounded(p + q, m) for m in ("rn", "rz", "rd", "ru")]
        row += [_rounded(p * q, m) for m in ("rn", "rz", "rd", "ru")]
        row += [
            _rounded(p * q - p, "rn"),
            _rounded(p / q, "rn"),
            np.sqrt(np.abs(x)),
            _rounded(1 / q, "rn"),
        ]
        want[i] = row
    return Case([a, b, np.zeros((128, 12), f32)], {2: want})


@program("math", grid=1, block=64)
def math_f64(rng):
    x = rng.uniform(-100, 100, 64)
    m = np.abs(x)
    columns = [np.sin(x), np.exp(x * 0.1), np.log(m + 1e-3), np.sqrt(m), x / (m + 2), x * x - x]
    return Case(
        [x, np.zeros((64, 6))], {1: Close(np.stack(columns, 1), rtol=1e-15 * 4, atol=1e-15)}
    )


@program("math", grid=2, block=64)
def convert(rng):
    x = (rng.integers(-1000, 1000, 128) / 4).astype(f32)
    ints = np.rint(x) + 3 * np.floor(x) + 5 * np.ceil(x) + 7 * np.trunc(x)
    unsigned = np.rint(np.maximum(x, 0)).astype(u32)
    scaled = np.floor(x * f32(65536)).astype(np.int64)
    want = {
        1: ints.astype(i32),
        2: unsigned,
        3: scaled,
        4: x.astype(np.float64) * 0.5,
        5: np.clip(np.rint(x), -128, 127).astype(np.int8),
        6: scaled.astype(f32) + unsigned.astype(f32) + (x * f32(0.5)),
    }
    return Case([x, *(np.zeros(128, w.dtype) for w in want.values())], want)


E4M3, E5M2 = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)


def _fp8_inputs(rng, dtype):
    x = (rng.standard_normal(256) * np.exp2(rng.integers(-12, 16, 256))).astype(dtype)
    x[:6] = [0, -0.0, 448, 500, -60000, 2.0**-10]
    return x


@program("fp8", grid=2, block=64, archs=("sm_90a",))
def fp8_from_f32(rng):
    x = _fp8_inputs(rng, f32)
    want = {1: np.clip(x, -448, 448).astype(E4M3), 2: np.clip(x, -57344, 57344).astype(E5M2)}
    return Case(
        [x, np.zeros(256, np.uint8), np.zeros(256, np.uint8)], want, view={1: E4M3, 2: E5M2}
    )


@program("fp8", grid=2, block=64, archs=("sm_90a",))
def fp8_from_f16(rng):
    x = np.clip(_fp8_inputs(rng, f32), -60000, 60000).astype(np.float16)
    want = np.clip(x, np.float16(-448), np.float16(448)).astype(E4M3)
    return Case([x, np.zeros(256, np.uint8)], {1: want}, view={1: E4M3})


@program("fp8", grid=2, block=64, archs=("sm_90a",))
def fp8_to_f16(rng):
    x = np.arange(256, dtype=np.uint8)
    want = {1: x.view(E4M3).astype(np.float16), 2: x.view(E5M2).astype(np.float16)}
    return Case([x, np.zeros(256, np.float16), np.zeros(256, np.float16)], want)
