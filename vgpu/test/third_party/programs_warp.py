"""Warp primitives, control flow, atomics and asynchronous copies of sm_80."""

import ml_dtypes
import numpy as np
from program import Case, add_program, integers, program

BOTH = ("sm_80", "sm_90a")
f32, i32, u32 = np.float32, np.int32, np.uint32
FULL = 0xFFFFFFFF


def _mask(bits) -> int:
    return sum(1 << lane for lane, bit in enumerate(bits) if bit)


@program("warp", grid=2, block=64)
def votes(rng):
    x = integers(rng, -9, 9, 128, i32)
    x[32:64] = 4
    x[70] = 100
    warps = x.reshape(-1, 32)
    ballot = np.repeat([_mask(w > 0) for w in warps], 32).astype(u32)
    anyall = np.repeat([2 * (w == 5).any() + (w < 100).all() for w in warps], 32).astype(i32)
    odd = np.repeat([_mask(w % 2 != 0) for w in warps], 32)
    active = np.where(x % 2 != 0, odd, 0).astype(u32)
    out = [np.zeros(128, u32), np.zeros(128, i32), np.zeros(128, u32)]
    return Case([x, *out], {1: ballot, 2: anyall, 3: active})


@program("warp", grid=1, block=64)
def matches(rng):
    x = integers(rng, 0, 12, 64, i32)
    x[40] = 1000
    warps = x.reshape(2, 32)
    any32 = np.array([_mask(w == v) for w in warps for v in w], u32)
    any64 = np.array([_mask(w // 4 == v // 4) for w in warps for v in w], u32)
    both = np.repeat([FULL ^ 5, 9], 32).astype(u32)
    return Case(
        [x, np.zeros(64, u32), np.zeros(64, u32), np.zeros(64, u32)], {1: any32, 2: any64, 3: both}
    )


@program("warp", grid=1, block=64)
def shuffles(rng):
    x = integers(rng, -999, 999, 64, i32)
    i = np.arange(64)
    lane, base = i % 32, i // 32 * 32
    want = {
        1: x[base + (lane & 16) + (i * 5 + 3) % 16],
        2: np.where(lane % 8 >= 3, x[i - 3], x),
        3: np.where(lane + 5 < 32, x[np.minimum(i + 5, 63)], x),
        4: x[base + (lane ^ 0x15)],
        5: x[base + (i + 1) % 32] * 0.5,
    }
    return Case([x, *(np.zeros(64, w.dtype) for w in want.values())], want)


@program("warp", grid=1, block=64)
def divergent_shuffle(rng):
    x = integers(rng, -999, 999, 64, i32)
    out = []
    for v in x.reshape(2, 32).copy():
        low, high = v[:12].copy(), v[12:].copy()
        for d in range(1, 4):
            low = low + low[(np.arange(12) + d) % 12]
        high = high - high[(np.arange(20) + 1) % 20]
        v = np.concatenate([low, high])
        out.append(v + v[np.arange(32) ^ 1])
    return Case([x, np.zeros(64, i32)], {1: np.concatenate(out)})


@program("warp", grid=1, block=128)
def syncwarp_exchange(rng):
    x = integers(rng, -999, 999, 128, i32)
    want = np.zeros((4, 32), i32)
    want[:, np.arange(32) * 7 % 32] = x.reshape(4, 32)[:, ::-1] * 2
    return Case([x, np.zeros(128, i32)], {1: want.ravel()})


@program("warp", grid=1, block=128)
def named_barriers(rng):
    x = integers(rng, -999, 999, 64, i32)
    return Case([x, np.zeros(64, i32)], {1: (x[::-1] + 1) * 2})


@program("warp", grid=3, block=96)
def barrier_reductions(rng):
    x = integers(rng, -9, 8, (3, 96), i32)
    x[1, 50], x[2, 3] = 9, -100
    each = (x > 3).sum(1) * 4 + (x > -100).all(1) * 2 + (x == 9).any(1)
    return Case([x, np.zeros_like(x)], {1: np.repeat(each, 96).reshape(3, 96).astype(i32)})


def _c_divide(x: int, y: int) -> int:
    return int(abs(x) // abs(y)) * (1 if (x < 0) == (y < 0) else -1)


def _switch(op: int, x: int, y: int) -> int:
    table = [
        lambda: x + y,
        lambda: x - y,
        lambda: x * y,
        lambda: _c_divide(x, y) if y else -1,
        lambda: x - _c_divide(x, y) * y if y else -2,
        lambda: x & y,
        lambda: x | ~y,
        lambda: y * max(0, (x + 2) // 3),
        lambda: x << (y & 15),
        lambda: (x & FULL).bit_count() + y,
        lambda: 32 - (x & FULL).bit_length(),
        lambda: x ^ y,
        lambda: min(x, y),
        lambda: max(x, y),
        lambda: abs(x) * 3,
        lambda: x >> 2,
        lambda: (x * 7) ^ (y >> 1),
        lambda: int(x == y),
        lambda: 5 if x < y else y,
        lambda: int(f"{x & FULL:032b}"[::-1], 2),
    ]
    return table[op]() if 0 <= op < len(table) else 12345


@program("control", grid=2, block=128)
def switch_table(rng):
    op = integers(rng, -1, 21, 256, i32)
    a, b = integers(rng, -999, 999, 256, i32), integers(rng, -20, 20, 256, i32)
    want = [_switch(int(o), int(x), int(y)) & FULL for o, x, y in zip(op, a, b, strict=True)]
    return Case([op, a, b, np.zeros(256, i32)], {3: np.array(want, u32).view(i32)})


@program("control", grid=2, block=64)
def indirect_branch(rng):
    op, a = integers(rng, 0, 3, 128, i32), integers(rng, -999, 999, 128, i32)
    return Case([op, a, np.zeros(128, i32)], {2: np.choose(op, [a + 5, a * 2, -a, a * 0])})


@program("control", grid=2, block=64)
def calls(rng):
    x = integers(rng, -6, 6, 128, f32)
    a, b = integers(rng, -999, 999, 128, i32), integers(rng, 1, 20, 128, i32)
    c3 = (np.arange(128) % 3).astype(f32)
    q = np.array([_c_divide(int(p), int(q)) for p, q in zip(a, b, strict=True)], i32)
    want = {3: ((c3 * x + f32(0.5)) * x - 2) * x + 1, 4: q * 1000 + (a - q * b)}
    return Case([x, a, b, *(np.zeros(128, w.dtype) for w in want.values())], want)


@program("recursion", grid=1, block=64)
def recursion(rng):
    n = integers(rng, 0, 6, 64, i32)
    fibonacci = np.array([0, 1, 1, 2, 3, 5, 8], i32)[n]
    want = np.where(np.arange(64) % 3 != 0, fibonacci, -1).astype(i32)
    return Case([n, np.zeros(64, i32)], {1: want})


@program("control", grid=1, block=64)
def function_pointers(rng):
    which, x = integers(rng, 0, 2, 64, i32), integers(rng, -99, 99, 64, i32)
    return Case([which, x, np.zeros(64, i32)], {2: np.choose(which, [2 * x, x * x, -x])})


@program("control", grid=2, block=32)
def local_array(rng):
    x = integers(rng, -99, 99, (64, 12), i32)
    return Case([x, np.zeros_like(x)], {1: np.sort(x, 1)})


def _collatz(x: int) -> int:
    if x == 0:
        return -1
    n = 0
    while x != 1:
        n += 1
        if n > 200:
            break
        if x % 2 == 0:
            x //= 2
        else:
            n += 2 * (x % 3)
            x = 3 * x + 1
    return n


@program("control", grid=2, block=64)
def divergent_loops(rng):
    x = integers(rng, 0, 2000, 128, u32)
    x[5] = 0
    return Case([x, np.zeros(128, i32)], {1: np.array([_collatz(int(v)) for v in x], i32)})


@program("control", grid=(2, 2, 2), block=(4, 2, 2))
def struct_parameter(rng):
    layout = np.dtype(
        [("scale", "f8"), ("offset", "i4", 3), ("tag", "i1"), ("bias", "i2")], align=True
    )
    affine = np.array((2.5, (7, -8, 9), -3, 100), layout)[()]
    extent = np.array((5, 4, 3), np.dtype([("x", "i4"), ("y", "i4"), ("z", "i4")]))[()]
    z, y, x = np.meshgrid(np.arange(3), np.arange(4), np.arange(5), indexing="ij")
    want = 2.5 * (x + 10 * y + 100 * z) + np.array([7, -8, 9])[(x + y + z) % 3] - 3 + 100
    return Case([affine, extent, np.zeros((3, 4, 5))], {2: want})


@program("control", grid=2, block=64)
def module_variables(rng):
    x = integers(rng, 0, 9, 128, i32)
    weights = np.array([1, -2, 3, -4, 5, -6, 7, -8])
    k = np.arange(8)
    want = (weights[(k + x[:, None]) & 7] * (k + 1)).sum(1) + np.where(x & 1, 5, -3)
    want = want + np.array([1, 2, 3, 255, 5, 6])[np.arange(128) % 6]
    return Case(
        [x, np.zeros(128, i32), np.zeros(128, i32)], {1: want.astype(i32), 2: (x > 4).astype(i32)}
    )


@program("atomics", grid=3, block=64, archs=BOTH)
def atomics_integer(rng):
    x = integers(rng, -(2**31), 2**31 - 1, 192, i32)
    w, u = x.astype(np.int64), x.view(u32)
    s = np.array([5, 5, 9, -9, -1, 0, 77, 0], i32)
    us = np.array([FULL, 0, 0, 0], u32)
    ls = np.array([2**60, -(2**60)], np.int64)
    vs = np.array([1, 2**64 - 1, 0, 0, 3, 2**64 - 1], np.uint64)
    reduce = np.bitwise_and.reduce, np.bitwise_or.reduce, np.bitwise_xor.reduce
    total = int(w.sum())
    ws = [
        *(5 + total, 5 - total, min(9, w.min()), max(-9, w.max())),
        *(reduce[0](x | 0xFF0), reduce[1](x & 0x7777), reduce[2](x) ^ 77, 0),
    ]
    ws = np.array(ws).astype(np.int64).astype(i32)
    wu = np.array([u.min(), u.max(), 192 % 101, -192 % 42], u32)
    wl = np.array([(w << 20).min(), (w << 20).max()])
    lanes = np.arange(192, dtype=np.uint64)
    wv = [
        (1 + (total << 8)) % 2**64,
        int(w.view(np.uint64).min()),
        int(w.view(np.uint64).max()),
        int(reduce[1](np.uint64(1) << (lanes & np.uint64(63)))),
        int(reduce[2](lanes * np.uint64(0x123456789))) ^ 3,
        int(reduce[0](~(np.uint64(1) << (w & 31).astype(np.uint64)))),
    ]
    return Case([x, s, us, ls, vs], {1: ws, 2: wu, 3: wl, 4: np.array(wv, np.uint64)})


def _sums_by_residue(count, values):
    return np.bincount(np.arange(len(values)) % count, values, count)


@program("atomics", grid=2, block=64, archs=BOTH)
def atomics_float(rng):
    x = integers(rng, -9, 9, 128, f32)
    want = {
        1: _sums_by_residue(5, x).astype(f32),
        2: _sums_by_residue(3, x * 0.25),
        3: np.stack([_sums_by_residue(7, x), _sums_by_residue(7, x * 0 + 1)], 1).astype(np.float16),
        4: _sums_by_residue(9, x).astype(np.float16),
    }
    return Case([x, *(np.zeros(w.shape, w.dtype) for w in want.values())], want)


def _atomics_bfloat(rng):
    x = integers(rng, -9, 9, 128, f32)
    bf16 = np.dtype(ml_dtypes.bfloat16)
    pairs = np.stack([_sums_by_residue(7, (x > 0) * 1.0), _sums_by_residue(7, x * 0 - 1)], 1)
    ones = np.append(_sums_by_residue(9, x * 0 + 1), 0)
    want = {1: pairs.astype(bf16), 2: ones.astype(bf16)}
    return Case(
        [x, np.zeros((7, 2), np.uint16), np.zeros(10, np.uint16)], want, view={1: bf16, 2: bf16}
    )


# The sm_80 form is a true race of the CUDA header's (see atomics.cu): right values, one finding.
add_program(
    "atomics_bfloat_emulated",
    "atomics.sm_80",
    "atomics_bfloat",
    2,
    64,
    _atomics_bfloat,
    known_findings=("race",),
)
add_program("atomics_bfloat", "atomics.sm_90a", "atomics_bfloat", 2, 64, _atomics_bfloat, "sm_90a")


@program("atomics", grid=2, block=40, archs=BOTH)
def atomics_returning(rng):
    def check(arrays):
        assert sorted(arrays[1]) == list(range(80)), "the tickets are not a permutation"
        last = int(arrays[2][0])
        assert 1 <= last <= 80, "the slot holds no thread's value"
        assert [int(v) for v in arrays[3]] == [int(k != last) for k in range(81)], (
            "a value was seen twice"
        )

    zeros = [np.zeros(n, i32) for n in (1, 80, 1, 81)]
    want = {0: np.array([80], i32), 4: np.zeros(1, u32), 5: np.full(10, 8, u32)}
    return Case([*zeros, np.zeros(1, u32), np.zeros(10, u32)], want, check=check)


@program("atomics", grid=2, block=48, archs=BOTH)
def atomics_cas(rng):
    x = rng.standard_normal(96).astype(f32) + f32(3)
    product = 1
    for i in range(96):
        product = product * (2 * i + 3) % 2**64
    want = {1: x.max(keepdims=True).view(i32), 2: np.array([product], np.uint64)}
    return Case([x, np.zeros(1, i32), np.ones(1, np.uint64)], want)


@program("atomics", grid=2, block=64, archs=BOTH)
def atomics_shared(rng):
    x = integers(rng, -99, 99, (2, 64), i32)
    x[0][x[0] % 16 == 0] = 1
    x[1, 7] = 32
    rows = []
    for v in x:
        row = [
            v.sum(),
            -v.sum(),
            v.min(),
            v.max(),
            np.bitwise_and.reduce(v | 0xF00),
            np.bitwise_xor.reduce(v),
        ]
        rows.append([*row, 64, 77 * (v % 16 == 0).any(), v.sum(), (v + 100).sum(), v.max() + 100])
    return Case([x, np.zeros((2, 11), i32)], {1: np.array(rows, i32)})


@program("atomics", grid=6, block=32, archs=BOTH)
def spin_lock(rng):
    return Case(
        [np.zeros(1, i32), np.zeros(1, i32), np.zeros(6, i32)],
        {0: np.zeros(1, i32), 1: np.array([63], i32), 2: np.ones(6, i32)},
    )


@program("atomics", grid=2, block=64, archs=("sm_90a",))
def atomics_vector(rng):
    x = integers(rng, -99, 99, (128, 4), f32)
    four = np.stack([x[k::3].sum(0) for k in range(3)])
    return Case(
        [x, np.zeros((3, 4), f32), np.zeros((3, 2), f32)], {1: four, 2: four[:, [3, 1]].copy()}
    )


WIDE = {"archs": ("sm_90",)}


def _pairs(values):
    """128-bit integers as rows of a low and a high word."""
    return np.array([[v % 2**64, v >> 64] for v in map(int, values)], np.uint64)


@program("wide_atomics", grid=3, block=40, **WIDE)
def wide_exchange(rng):
    put = [[2**63 + i, 2**64 - 1 - i] for i in range(120)]

    def check(arrays):
        slot, seen = arrays
        assert sorted([*seen.tolist(), *slot.tolist()]) == sorted([[7, 9], *put]), (
            "a pair was lost, torn or seen twice"
        )

    return Case([np.array([[7, 9]], np.uint64), np.zeros((120, 2), np.uint64)], {}, check=check)


@program("wide_atomics", grid=3, block=40, **WIDE)
def wide_sum(rng):
    x = rng.integers(0, 2**64, 120, np.uint64, endpoint=False)
    total = sum(int(v) ** 2 for v in x) % 2**128
    return Case([x, np.zeros((1, 2), np.uint64)], {1: _pairs([total])})


@program("wide_atomics", grid=4, block=64, **WIDE)
def wide_argmin(rng):
    keys = rng.integers(2**40, 2**64, 256, np.uint64, endpoint=False)
    keys[[77, 101, 230]] = 2**35 + 3  # thrice the same, in two blocks
    best = np.full((1, 2), 2**64 - 1, np.uint64)
    return Case([keys, best], {1: np.array([[2**35 + 3, 77]], np.uint64)})


@program("wide_atomics", grid=5, block=32, **WIDE)
def wide_chained_scan(rng):
    x = rng.integers(0, 2**64, 160, np.uint64, endpoint=False)
    scan = np.cumsum(x, dtype=np.uint64)
    state = np.stack([scan[31::32], np.ones(5, np.uint64)], 1)
    zeros = [np.zeros((5, 2), np.uint64), np.zeros(5, np.uint64), np.zeros(160, np.uint64)]
    return Case([x, *zeros], {1: state, 2: np.arange(1, 6, dtype=np.uint64), 3: scan})


@program("async_copy", grid=2, block=128)
def stencil_pipeline(rng):
    x = integers(rng, -99, 99, 2 * 5 * 128, f32)
    p = np.pad(x, 1)
    return Case([i32(5), x, np.zeros_like(x)], {2: p[:-2] + 2 * p[1:-1] + p[2:]})


@program("async_copy", grid=1, block=64)
def copy_widths(rng):
    x = integers(rng, -99, 99, 254, i32)
    a = np.pad(x, (0, 2))
    a[253] = 0  # the last copy reads 4 of its 16 bytes
    t = np.arange(64)
    want = np.concatenate([a[255 - t] + 3 * x[127 - t] + 5 * x[63 - t], a[t * 4 + 3] - a[t * 4]])
    return Case([i32(254), x, np.zeros(128, i32)], {2: want})


@program("mbarrier", grid=1, block=128)
def mbarrier_ring(rng):
    x = integers(rng, -9, 9, (5, 128), i32)
    acc = np.zeros(96, i32)
    for tile in x:
        acc = acc * 3 + tile[np.arange(32, 128) * 5 % 128]
    return Case([i32(5), x, np.zeros(96, i32)], {2: acc})
