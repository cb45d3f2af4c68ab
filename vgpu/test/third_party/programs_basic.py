"""Element-wise, transpose, reduction, histogram, scan, softmax and plain matmul kernels."""

import ml_dtypes
import numpy as np
from program import Case, Close, integers, program

BOTH = ("sm_80", "sm_90a")
f32, i32 = np.float32, np.int32


@program("elementwise", grid=8, block=128)
def saxpy(rng):
    n = 1000
    x, y = integers(rng, -9, 9, n, f32), integers(rng, -9, 9, n, f32)
    return Case([i32(n), f32(2.5), x, y], {3: f32(2.5) * x + y})


@program("elementwise", grid=3, block=64)
def grid_stride(rng):
    n = 1001
    x, y = integers(rng, -99, 99, n, i32), np.zeros(n, i32)
    return Case([np.int64(n), x, y], {2: 3 * x + (np.arange(n, dtype=i32) & 7)})


@program("elementwise", grid=1, block=64)
def vector_copy(rng):
    n = 203
    x, y = rng.standard_normal(n).astype(f32), np.zeros(n, f32)
    want = x.copy()
    want[:200] = x[:200].reshape(-1, 2)[:, ::-1].ravel()
    return Case([i32(n), x, y], {2: want})


@program("elementwise", grid=1, block=32)
def vector_types(rng):
    a = integers(rng, 0, 255, (32, 4), np.uint8)
    b = integers(rng, -999, 999, (32, 2), np.int16)
    c = rng.standard_normal((32, 2))
    ra = (a[:, ::-1] + np.arange(4, dtype=np.uint8)).astype(np.uint8)
    rb = np.stack([-b[:, 1], b[:, 0]], 1)
    rc = np.stack([c[:, 1] * 2, c[:, 0] - 1], 1)
    out = [np.zeros_like(a), np.zeros_like(b), np.zeros_like(c)]
    return Case([a, b, c, *out], {3: ra, 4: rb, 5: rc})


def _packed_inputs(rng, dtype):
    a = (integers(rng, -8, 8, 256, f32) / 4).astype(dtype)
    b = (integers(rng, -8, 8, 256, f32) / 4).astype(dtype)
    return a, b, a.astype(f32), b.astype(f32)


@program("elementwise", grid=2, block=64)
def half2_math(rng):
    a, b, x, y = _packed_inputs(rng, np.float16)
    want = {
        2: x * y - x,
        3: np.clip(x * y, 0, 1),
        4: np.maximum(x, y) - np.minimum(x, np.abs(y)),
        5: (x > y).astype(f32),
        6: np.maximum(x * y + y, 0),
    }
    out = [np.zeros(256, np.float16) for _ in range(5)]
    return Case([a, b, *out], {i: w.astype(np.float16) for i, w in want.items()})


@program("elementwise", grid=2, block=64)
def bfloat2_math(rng):
    bf16 = np.dtype(ml_dtypes.bfloat16)
    a, b, x, y = _packed_inputs(rng, bf16)
    s = (x + y).reshape(-1, 2)
    want = {
        2: (x * y - x).astype(bf16),
        3: (np.maximum(x, y) - np.minimum(x, np.abs(y))).astype(bf16),
        4: s[:, 0] * 2 + s[:, 1],
    }
    args = [
        a.view(np.uint16),
        b.view(np.uint16),
        np.zeros(256, np.uint16),
        np.zeros(256, np.uint16),
    ]
    return Case([*args, np.zeros(128, f32)], want, view={2: bf16, 3: bf16})


def _directed(x: np.ndarray, mode: str) -> np.ndarray:
    """x rounded to f16 toward zero, down or up, from the nearest and its neighbours."""
    near = x.astype(np.float16)
    lower = np.where(near.astype(f32) > x, np.nextafter(near, np.float16(-np.inf)), near)
    upper = np.where(near.astype(f32) < x, np.nextafter(near, np.float16(np.inf)), near)
    return {"rd": lower, "ru": upper, "rz": np.where(x < 0, upper, lower)}[mode]


@program("elementwise", grid=2, block=64)
def half_rounding(rng):
    x = (rng.standard_normal(128) * np.exp2(rng.integers(-20, 15, 128))).astype(f32)
    bf16 = np.dtype(ml_dtypes.bfloat16)
    want = {1: x.astype(np.float16), 5: x.astype(bf16)}
    want |= {i: _directed(x, mode) for i, mode in ((2, "rz"), (3, "rd"), (4, "ru"))}
    out = [np.zeros(128, np.float16) for _ in range(4)]
    return Case([x, *out, np.zeros(128, np.uint16)], want, view={5: bf16})


@program("transpose", grid=(3, 2), block=(32, 8), archs=BOTH)
def transpose_padded(rng):
    a = rng.standard_normal((45, 70)).astype(f32)
    return Case([i32(45), i32(70), a, np.zeros((70, 45), f32)], {3: a.T.copy()})


@program("transpose", grid=(3, 3), block=(32, 4), archs=BOTH)
def transpose_swizzled(rng):
    a = integers(rng, 0, 65535, (96, 96), np.uint16)
    return Case([i32(96), a, np.zeros_like(a)], {2: a.T.copy()})


@program("transpose", grid=(3, 3), block=(16, 16), archs=BOTH)
def transpose_in_place(rng):
    a = integers(rng, -999, 999, (48, 48), i32)
    return Case([i32(48), a], {1: a.T.copy()})


@program("reduce", grid=4, block=128, shared_bytes=512, archs=BOTH)
def reduce_tree(rng):
    x = integers(rng, -99, 99, 450, i32)
    return Case([i32(450), x, np.zeros(4, i32)], {2: np.pad(x, (0, 62)).reshape(4, 128).sum(1)})


@program("reduce", grid=2, block=96, archs=BOTH)
def reduce_shuffle(rng):
    x = integers(rng, -99, 99, 1000, f32)
    want = np.pad(x, (0, 152)).reshape(6, 2, 96).sum((0, 2))
    return Case([i32(1000), x, np.zeros(2, f32)], {2: want})


@program("reduce", grid=1, block=64, archs=BOTH)
def reduce_butterfly(rng):
    x = rng.integers(-(2**60), 2**60, 64)
    return Case([x, np.zeros(64, np.int64)], {1: np.repeat(x.reshape(8, 8).max(1), 8)})


@program("reduce", grid=2, block=64, archs=BOTH)
def reduce_redux(rng):
    x = integers(rng, -(2**31), 2**31 - 1, 128, i32)
    w = x.reshape(4, 32)
    u = w.view(np.uint32)
    both = np.bitwise_and.reduce(u | np.uint32(0xFF), 1) & np.uint32(0xFFFF)
    both = both ^ np.bitwise_or.reduce(u, 1) ^ np.bitwise_xor.reduce(u, 1)
    want = {1: w.sum(1, dtype=i32), 2: u.min(1), 3: w.max(1), 4: both}
    return Case([x, *(np.zeros(4, a.dtype) for a in want.values())], want)


@program("reduce", grid=5, block=128, archs=BOTH)
def last_block_done(rng):
    x = integers(rng, -99, 99, 3000, f32)
    partial = np.pad(x, (0, 200)).reshape(5, 5, 128).sum((0, 2))
    return Case(
        [i32(3000), x, np.zeros(5, f32), np.zeros(1, f32)], {2: partial, 3: x.sum(keepdims=True)}
    )


@program("histogram", grid=3, block=128)
def histogram_shared(rng):
    x = integers(rng, 0, 255, 5000, np.uint8) & rng.integers(0, 256, 5000).astype(np.uint8)
    want = np.bincount(x, minlength=256).astype(np.uint32)
    return Case([i32(5000), x, np.zeros(256, np.uint32)], {2: want})


@program("histogram", grid=2, block=128, shared_bytes=4 * 64 * 4)
def histogram_per_warp(rng):
    x = rng.integers(0, 2**32, 700, dtype=np.uint32)
    owner = np.arange(700) // 128 % 2
    want = [np.bincount(x[owner == b].view(np.uint8) & 63, minlength=64) for b in range(2)]
    return Case([i32(700), x, np.zeros((2, 64), np.uint32)], {2: np.array(want, np.uint32)})


@program("matmul_tiled", grid=(3, 3), block=(16, 16))
def matmul_tiled(rng):
    m, n, k = 37, 45, 50
    a, b = integers(rng, -5, 5, (m, k), f32), integers(rng, -5, 5, (k, n), f32)
    return Case([i32(m), i32(n), i32(k), a, b, np.zeros((m, n), f32)], {5: a @ b})


@program("matmul_tiled", grid=(2, 1), block=(16, 16), shared_bytes=2 * 2 * 8 * 64 * 4)
def matmul_blocked(rng):
    n, k = 128, 32
    a, b = integers(rng, -5, 5, (64, k), f32), integers(rng, -5, 5, (k, n), f32)
    return Case([i32(n), i32(k), a, b, np.zeros((64, n), f32)], {4: a @ b})


@program("scan", grid=3, block=256, archs=BOTH)
def scan_block(rng):
    x = integers(rng, -99, 99, 768, i32)
    return Case([x, np.zeros(768, i32)], {1: x.reshape(3, 256).cumsum(1, dtype=i32).ravel()})


@program("scan", grid=6, block=64, archs=BOTH)
def scan_chained(rng):
    x = integers(rng, -99, 99, 384, i32)
    want = x.cumsum(dtype=i32)
    state = [np.zeros(1, i32), np.zeros(6, i32), np.zeros(6, i32)]
    return Case([x, np.zeros(384, i32), *state], {1: want, 2: np.array([6], i32), 3: want[63::64]})


@program("scan", grid=4, block=64, archs=BOTH)
def scan_grid_barrier(rng):
    x = integers(rng, -99, 99, 256, i32)
    want = x.cumsum(dtype=i32)
    return Case([x, np.zeros(256, i32), np.zeros(4, i32), np.zeros(1, np.uint32)], {1: want})


def _softmax(x: np.ndarray, base=np.exp) -> np.ndarray:
    e = base(x.astype(np.float64) - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


@program("softmax", grid=3, block=64)
def softmax_rows(rng):
    x = (rng.standard_normal((3, 150)) * 4).astype(f32)
    return Case([i32(150), x, np.zeros_like(x)], {2: Close(_softmax(x), rtol=3e-6, atol=1e-9)})


@program("softmax", grid=2, block=64)
def softmax_online(rng):
    x = (rng.standard_normal((4, 150)) * 4).astype(np.float16)
    want = _softmax(x.astype(np.float64), np.exp2)
    return Case([i32(150), x, np.zeros_like(x)], {2: Close(want, rtol=6e-4, atol=4e-8)})


@program("runtime", grid=2, block=2)
def print_values(rng):
    return Case([np.zeros(4, i32), np.int64(-(10**12)), np.float64(1.25)], {0: np.arange(4) + 1})


@program("runtime", grid=1, block=64)
def assert_below(rng):
    return Case([integers(rng, 0, 9, 64, i32), i32(10), np.zeros(64, i32)], {2: np.ones(64, i32)})


@program("runtime", grid=1, block=64)
def heap_sums(rng):
    return Case([np.zeros(64, i32), i32(9)], {0: np.arange(64, dtype=i32) * 36})
