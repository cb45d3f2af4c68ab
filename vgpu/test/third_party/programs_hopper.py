"""TMA and wgmma kernels (sm_90a)."""

import numpy as np
from program import Case, TensorMapArg, add_program, integers, program
from programs_tensor import OPERANDS, draw

f16, f32, i32, u32 = np.float16, np.float32, np.int32, np.uint32
HOPPER = ("sm_90a",)
SWIZZLE_NAME = {16: "none", 32: "32B", 64: "64B", 128: "128B"}


def _tiles(array, rows, cols, fill):
    """The boxes of a grid over `array`, each dense, what lies outside filled."""
    height, width = -(-array.shape[0] // rows), -(-array.shape[1] // cols)
    padded = np.full((height * rows, width * cols), fill, array.dtype)
    padded[: array.shape[0], : array.shape[1]] = array
    return padded.reshape(height, rows, width, cols).transpose(0, 2, 1, 3).copy()


def _load_case(span, rows, row_bytes, dtype, oob_fill):
    def make(rng):
        x = integers(rng, -999, 999, (50, 200), dtype)
        item = x.itemsize
        tiles = _tiles(x, rows, row_bytes // item, np.nan if oob_fill == "nan" else 0)
        tensor = TensorMapArg(x, (rows, row_bytes // item), SWIZZLE_NAME[span], oob_fill)
        out = np.zeros(tiles.shape, dtype)
        return Case([tensor, i32(span), i32(rows), i32(row_bytes), i32(item), out], {5: tiles})

    return make


for _name, _span, _rows, _bytes, _dtype, _fill in [
    ("128b", 128, 16, 128, f16, "zeros"),
    ("64b", 64, 16, 64, f16, "zeros"),
    ("32b", 32, 16, 32, f16, "zeros"),
    ("plain", 16, 12, 96, f16, "zeros"),
    ("128b_nan", 128, 24, 128, f32, "nan"),
]:
    _grid = (-(-200 * np.dtype(_dtype).itemsize // _bytes), -(-50 // _rows))
    _make = _load_case(_span, _rows, _bytes, _dtype, _fill)
    add_program(
        f"tma_load_{_name}", "tma.sm_90a", "tma_load", _grid, 64, _make, "sm_90a", _rows * _bytes
    )


@program("tma", grid=1, block=32, archs=HOPPER)
def tma_load_negative(rng):
    x = integers(rng, -999, 999, (20, 32), f32)
    want = np.zeros((8, 16), f32)
    want[2:, 3:] = x[:6, :13]
    return Case([TensorMapArg(x, (8, 16)), np.zeros((8, 16), f32)], {1: want})


@program("tma", grid=(2, 2, 2), block=32, archs=HOPPER)
def tma_load_cube(rng):
    x = integers(rng, -999, 999, (5, 6, 16), i32)
    padded = np.zeros((8, 8, 16), i32)
    padded[:5, :6] = x
    want = padded.reshape(2, 4, 2, 4, 2, 8).transpose(0, 2, 4, 1, 3, 5).copy()
    return Case([TensorMapArg(x, (4, 4, 8)), np.zeros_like(want)], {1: want})


@program("tma", grid=(2, 2), block=64, archs=HOPPER)
def tma_store(rng):
    tiles = integers(rng, -999, 999, (2, 2, 16, 32), f32)
    out = np.full((30, 60), -1, f32)
    want = (tiles * 2).transpose(0, 2, 1, 3).reshape(32, 64)[:30, :60].copy()
    return Case([TensorMapArg(out, (16, 32), "128B"), tiles], {0: want})


@program("tma", grid=(2, 2), block=64, archs=HOPPER)
def tma_reduce(rng):
    tiles = integers(rng, -999, 999, (2, 2, 16, 32), f32)
    out = integers(rng, -99, 99, (30, 52), f32)
    want = np.pad(out, ((0, 2), (0, 4)))
    for y in range(2):
        for x in range(2):
            want[y * 16 : y * 16 + 16, x * 24 : x * 24 + 32] += tiles[y, x] * 2
    return Case([TensorMapArg(out, (16, 32), "128B"), tiles], {0: want[:30, :52].copy()})


@program("tma", grid=3, block=256, archs=HOPPER)
def bulk_copy(rng):
    x = integers(rng, -999, 999, (3, 256), i32)
    return Case([x, np.zeros_like(x)], {1: x * 2 + np.arange(256, dtype=i32)})


@program("tma", grid=2, block=128, archs=HOPPER)
def tma_ring(rng):
    tiles = 5
    x = integers(rng, -8, 8, (tiles * 8, 64), f32)
    want = np.zeros((2, 96), f32)
    for i in range(tiles):
        for c in range(96):
            for r in range(c // 32, 8, 3):
                want[:, c] = want[:, c] * f32(0.5) + x[i * 8 + r, [c % 32, 32 + c % 32]]
    return Case([TensorMapArg(x, (8, 32), "128B"), i32(tiles), np.zeros((2, 96), f32)], {2: want})


def _wgmma_case(kind_a, kind_b, accumulator, sign=1):
    def make(rng):
        per_row = 256 * 8 // OPERANDS[kind_a][0]  # two rounds of 128 bytes
        a, words_a = draw(rng, kind_a, (64, per_row))
        b, words_b = draw(rng, kind_b, (64, per_row))
        want = (sign * (a @ b.T)).astype(accumulator)
        return Case([i32(256), words_a, words_b, np.zeros((64, 64), accumulator)], {3: want})

    return make


for _name, _a, _b, _acc, _sign in [
    ("f16_128b", "f16", "f16", f32, 1),
    ("f16_64b", "f16", "f16", f32, 1),
    ("f16_32b", "f16", "f16", f32, 1),
    ("f16_plain", "f16", "f16", f32, 1),
    ("f16_negated", "f16", "f16", f32, -1),
    ("bf16", "bf16", "bf16", f32, 1),
    ("tf32", "tf32", "tf32", f32, 1),
    ("e4m3", "e4m3", "e4m3", f32, 1),
    ("e5m2_e4m3", "e5m2", "e4m3", f32, 1),
    ("s8", "s8", "s8", i32, 1),
    ("u8_s8", "u8", "s8", i32, 1),
    ("e4m3_e5m2", "e4m3", "e5m2", f32, 1),
    ("e5m2", "e5m2", "e5m2", f32, 1),
    ("s8_u8", "s8", "u8", i32, 1),
    ("u8", "u8", "u8", i32, 1),
    ("b1", "b1", "b1", i32, 1),
]:
    _make = _wgmma_case(_a, _b, _acc, _sign)
    add_program(f"wgmma_{_name}", "wgmma.sm_90a", f"wgmma_{_name}", 1, 128, _make, "sm_90a")


@program("wgmma", grid=(2, 2), block=128, shared_bytes=32768, archs=HOPPER)
def matmul_wgmma_tma(rng):
    a, b = integers(rng, -3, 3, (128, 256), f16), integers(rng, -3, 3, (128, 256), f16)
    maps = [TensorMapArg(x, (64, 64), "128B") for x in (a, b)]
    want = a.astype(f32) @ b.astype(f32).T
    return Case([*maps, i32(128), i32(4), np.zeros((128, 128), f32)], {4: want})


@program("wgmma", grid=1, block=128, archs=HOPPER)
def wgmma_f16_transposed(rng):
    a, b = integers(rng, -3, 3, (64, 128), f16), integers(rng, -3, 3, (128, 128), f16)
    return Case([i32(128), a, b, np.zeros((64, 128), f32)], {3: a.astype(f32) @ b.astype(f32)})


@program("wgmma", grid=1, block=128, archs=HOPPER)
def wgmma_f16_both_transposed(rng):
    a, b = integers(rng, -3, 3, (128, 64), f16), integers(rng, -3, 3, (128, 64), f16)
    want = a.astype(f32).T @ b.astype(f32)
    return Case([i32(128), a, b, np.zeros((64, 64), f32)], {3: want})


def _wgmma_width_case(n):
    def make(rng):
        a, b = integers(rng, -4, 4, (64, 64), f16), integers(rng, -4, 4, (n, 64), f16)
        return Case([a, b, np.zeros((64, n), f32)], {2: a.astype(f32) @ b.astype(f32).T})

    return make


for _n in (24, 104, 256):
    _entry, _make = f"wgmma_f16_n{_n}", _wgmma_width_case(_n)
    add_program(_entry, "wgmma.sm_90a", _entry, 1, 128, _make, "sm_90a", 8192 + _n * 128)


@program("wgmma", grid=1, block=128, archs=HOPPER)
def wgmma_f16_registers(rng):
    a, b = integers(rng, -5, 5, (64, 64), f16), integers(rng, -5, 5, (8, 64), f16)
    return Case([a, b, np.zeros((64, 8), f32)], {2: a.astype(f32) @ b.astype(f32).T})


def _wgmma_half_case(kind_a, kind_b):
    """Sums in f16, 128 bytes of k."""

    def make(rng):
        per_row = 128 * 8 // OPERANDS[kind_a][0]
        a, words_a = draw(rng, kind_a, (64, per_row))
        b, words_b = draw(rng, kind_b, (16, per_row))
        return Case([words_a, words_b, np.zeros((64, 16), f16)], {2: (a @ b.T).astype(f16)})

    return make


for _name, _a, _b in [
    ("f16_f16", "f16", "f16"),
    ("e4m3_f16", "e4m3", "e4m3"),
    ("e4m3_e5m2_f16", "e4m3", "e5m2"),
    ("e5m2_e4m3_f16", "e5m2", "e4m3"),
    ("e5m2_f16", "e5m2", "e5m2"),
]:
    _make = _wgmma_half_case(_a, _b)
    add_program(f"wgmma_{_name}", "wgmma.sm_90a", f"wgmma_{_name}", 1, 128, _make, "sm_90a")
