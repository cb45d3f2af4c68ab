"""Tensor-core kernels of sm_80 and their fp8 and f64 relatives: mma, ldmatrix, stmatrix, wmma.

All inputs are small random integers: sums are exact in any order, and no two rows, columns or
positions along k are alike, so that a wrong lane map gives a wrong result.
"""

import ml_dtypes
import numpy as np
from program import Case, add_program, integers, program

f16, f32, i32, u32 = np.float16, np.float32, np.int32, np.uint32
BF16, E4M3, E5M2 = (
    np.dtype(t) for t in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)
)

# Operand types: bits, and the range of integers to draw from.
OPERANDS = {
    "f16": (16, -4, 4),
    "bf16": (16, -4, 4),
    "tf32": (32, -4, 4),
    "e4m3": (8, -3, 3),
    "e5m2": (8, -3, 3),
    "s8": (8, -128, 127),
    "u8": (8, 0, 255),
    "s4": (4, -8, 7),
    "u4": (4, 0, 15),
    "b1": (1, 0, 1),
}
FLOATS = {"f16": f16, "bf16": BF16, "tf32": f32, "e4m3": E4M3, "e5m2": E5M2}


def draw(rng, kind: str, shape) -> tuple[np.ndarray, np.ndarray]:
    """Random values of an operand type: as integers, and packed into words along the last axis."""
    _, low, high = OPERANDS[kind]
    values = rng.integers(low, high + 1, shape)
    return values, pack(values, kind)


def pack(values: np.ndarray, kind: str) -> np.ndarray:
    bits = OPERANDS[kind][0]
    if kind in FLOATS:
        return np.ascontiguousarray(values.astype(FLOATS[kind])).view(u32)
    per_word = 32 // bits
    field = (values & ((1 << bits) - 1)).reshape(*values.shape[:-1], -1, per_word).astype(np.uint64)
    shifts = np.arange(per_word, dtype=np.uint64) * np.uint64(bits)
    return (field << shifts).sum(-1).astype(u32)


def _one_bit_products(a, b, k, op):
    """popc over k of the xor or and of a row and a column."""
    both = (a[:, None, :] ^ b[None, :, :]) if op == "xor" else (a[:, None, :] & b[None, :, :])
    return both.sum(-1)


def _shape_case(m, k, kind_a, kind_b, accumulator, op=None, saturating=False):
    def make(rng):
        a, words_a = draw(rng, kind_a, (m, k))
        b, words_b = draw(rng, kind_b, (8, k))
        c = rng.integers(-20, 21, (m, 8))
        if saturating:
            c[::2] = 2**31 - 1 - rng.integers(0, 100, (m // 2, 8))
            c[1::4] = -(2**31) + rng.integers(0, 100, (m // 4, 8))
        d = _one_bit_products(a, b, k, op) + c if op else a @ b.T + c
        if saturating:
            d = np.clip(d, -(2**31), 2**31 - 1)
        args = [words_a, words_b, c.astype(accumulator), np.zeros((m, 8), accumulator)]
        return Case(args, {3: d.astype(accumulator)})

    return make


def _add_shape(name, make, arch="sm_80"):
    add_program(f"mma_{name}", f"mma_shapes.{arch}", f"mma_{name}", 1, 32, make, arch)


for _name, _k, _a, _b, _acc in [
    ("m16n8k8_f16_f32", 8, "f16", "f16", f32),
    ("m16n8k8_f16_f16", 8, "f16", "f16", f16),
    ("m16n8k8_bf16", 8, "bf16", "bf16", f32),
    ("m16n8k16_f16_f32", 16, "f16", "f16", f32),
    ("m16n8k16_f16_f16", 16, "f16", "f16", f16),
    ("m16n8k16_bf16", 16, "bf16", "bf16", f32),
    ("m16n8k4_tf32", 4, "tf32", "tf32", f32),
    ("m16n8k8_tf32", 8, "tf32", "tf32", f32),
    ("m16n8k16_s8", 16, "s8", "s8", i32),
    ("m16n8k16_u8", 16, "u8", "u8", i32),
    ("m16n8k16_s8u8", 16, "s8", "u8", i32),
    ("m16n8k16_u8s8", 16, "u8", "s8", i32),
    ("m16n8k32_s8", 32, "s8", "s8", i32),
    ("m16n8k32_u8s8", 32, "u8", "s8", i32),
    ("m16n8k32_s8u8", 32, "s8", "u8", i32),
    ("m16n8k32_u8", 32, "u8", "u8", i32),
    ("m16n8k32_s4", 32, "s4", "s4", i32),
    ("m16n8k32_s4u4", 32, "s4", "u4", i32),
    ("m16n8k32_u4s4", 32, "u4", "s4", i32),
    ("m16n8k32_u4", 32, "u4", "u4", i32),
    ("m16n8k64_s4", 64, "s4", "s4", i32),
    ("m16n8k64_u4s4", 64, "u4", "s4", i32),
    ("m16n8k64_s4u4", 64, "s4", "u4", i32),
    ("m16n8k64_u4", 64, "u4", "u4", i32),
]:
    _add_shape(_name, _shape_case(16, _k, _a, _b, _acc))
_add_shape("m16n8k32_s8_sat", _shape_case(16, 32, "s8", "s8", i32, saturating=True))
_add_shape("m16n8k128_b1_xor", _shape_case(16, 128, "b1", "b1", i32, op="xor"))
_add_shape("m16n8k128_b1_and", _shape_case(16, 128, "b1", "b1", i32, op="and"))
_add_shape("m16n8k256_b1_xor", _shape_case(16, 256, "b1", "b1", i32, op="xor"))
_add_shape("m16n8k256_b1_and", _shape_case(16, 256, "b1", "b1", i32, op="and"))
_add_shape("m8n8k16_s8", _shape_case(8, 16, "s8", "s8", i32))
_add_shape("m8n8k16_s8u8", _shape_case(8, 16, "s8", "u8", i32))
_add_shape("m8n8k16_u8s8", _shape_case(8, 16, "u8", "s8", i32))
_add_shape("m8n8k16_u8", _shape_case(8, 16, "u8", "u8", i32))
_add_shape("m8n8k32_s4", _shape_case(8, 32, "s4", "s4", i32))
_add_shape("m8n8k32_u4", _shape_case(8, 32, "u4", "u4", i32))
_add_shape("m8n8k32_s4u4", _shape_case(8, 32, "s4", "u4", i32))
_add_shape("m8n8k32_u4s4", _shape_case(8, 32, "u4", "s4", i32))
_add_shape("m8n8k128_b1_and", _shape_case(8, 128, "b1", "b1", i32, op="and"))
_add_shape("m8n8k128_b1_xor", _shape_case(8, 128, "b1", "b1", i32, op="xor"))
for _k in (16, 32):
    for _a, _b in (("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e4m3"), ("e5m2", "e5m2")):
        _name = f"m16n8k{_k}_{_a}" if _a == _b else f"m16n8k{_k}_{_a}_{_b}"
        _add_shape(_name, _shape_case(16, _k, _a, _b, f32), "sm_90a")
        _add_shape(f"{_name}_f16", _shape_case(16, _k, _a, _b, f16), "sm_90a")


def _f64_case(m, k):
    def make(rng):
        a, b, c = (rng.integers(-99, 100, s).astype(np.float64) for s in ((m, k), (8, k), (m, 8)))
        return Case([a, b, c, np.zeros((m, 8))], {3: a @ b.T + c})

    return make


_add_shape("m8n8k4_f64", _f64_case(8, 4))
for _k in (4, 8, 16):
    _add_shape(f"m16n8k{_k}_f64", _f64_case(16, _k), "sm_90a")


def _quad_pairs(accumulator):
    """Four products; A and B are stored by rows of k whatever the layout the registers ask for."""

    def make(rng):
        a, b = integers(rng, -4, 4, (4, 8, 4), f16), integers(rng, -4, 4, (4, 8, 4), f16)
        c = integers(rng, -20, 20, (4, 8, 8), accumulator)
        d = a.astype(f32) @ b.astype(f32).transpose(0, 2, 1) + c.astype(f32)
        return Case([a, b, c, np.zeros_like(c)], {3: d.astype(accumulator)})

    return make


for _layout in ("row_col", "row_row", "col_col", "col_row"):
    _add_shape(f"m8n8k4_f16_{_layout}", _quad_pairs(f32))
for _layout in ("", "_row_row", "_col_col", "_col_row"):
    _add_shape(f"m8n8k4_f16_f16{_layout}", _quad_pairs(f16))


def _matmul_case(kind, m, n, k, accumulator):
    def make(rng):
        a, words_a = draw(rng, kind, (m, k))
        b, words_b = draw(rng, kind, (n, k))
        k_bytes = words_a.shape[1] * 4
        out = np.zeros((m, n), accumulator)
        return Case(
            [i32(m), i32(n), i32(k_bytes), words_a, words_b, out],
            {5: (a @ b.T).astype(accumulator)},
        )

    return make


for _kind, _k, _acc, _arch in [
    ("f16", 96, f32, "sm_80"),
    ("bf16", 96, f32, "sm_80"),
    ("tf32", 48, f32, "sm_80"),
    ("s8", 192, i32, "sm_80"),
    ("s4", 384, i32, "sm_80"),
    ("e4m3", 192, f32, "sm_90a"),
]:
    _make = _matmul_case(_kind, 100, 72, _k, _acc)
    add_program(
        f"matmul_mma_{_kind}",
        f"matmul_mma.{_arch}",
        f"matmul_mma_{_kind}",
        (2, 2),
        128,
        _make,
        _arch,
    )


@program("matmul_mma", grid=(2, 1), block=128, shared_bytes=3 * 8192)
def matmul_mma_f16_trans(rng):
    a, b = integers(rng, -3, 3, (64, 96), f16), integers(rng, -3, 3, (96, 128), f16)
    want = (a.astype(f32) @ b.astype(f32)).astype(f16)
    return Case([i32(128), i32(96), a, b, np.zeros((64, 128), f16)], {4: want})


@program("matmul_mma", grid=1, block=32)
def ldmatrix_forms(rng):
    a, at, b = (integers(rng, -9, 9, s, f16) for s in ((16, 8), (8, 16), (8, 8)))
    x, y, z = a.astype(f32), at.astype(f32), b.astype(f32)
    # The second product reads B untransposed: its columns are the rows of b.
    return Case([a, at, b, np.zeros((2, 16, 8), f32)], {3: np.stack([x @ z, y.T @ z.T])})


@program("matmul_mma", grid=1, block=32, archs=("sm_90a",))
def stmatrix_forms(rng):
    a, b = integers(rng, -5, 5, (16, 16), f16), integers(rng, -5, 5, (8, 16), f16)
    d = (a.astype(f32) @ b.astype(f32).T).astype(f16)
    return Case([a, b, np.zeros((16, 8), f16), np.zeros((8, 16), f16)], {2: d, 3: d.T.copy()})


@program("matmul_mma", grid=1, block=32)
def movmatrix_form(rng):
    a, b = integers(rng, -9, 9, (16, 8), f16), integers(rng, -9, 9, (8, 8), f16)
    return Case([a, b, np.zeros((16, 8), f32)], {2: a.astype(f32) @ b.astype(f32)})


@program("matmul_mma", grid=1, block=32, archs=("sm_90a",))
def stmatrix_wide(rng):
    a, b = integers(rng, -5, 5, (16, 16), f16), integers(rng, -5, 5, (16, 16), f16)
    d = (a.astype(f32) @ b.astype(f32).T).astype(f16)
    outputs = [np.zeros((16, 16), f16) for _ in range(3)]
    return Case([a, b, *outputs], {2: d, 3: d.T.copy(), 4: d.T.copy()})


def _wmma_case(m, n, k, store, kind_range, accumulator, columns):
    """store: the dtype in memory (bf16 as bits)."""

    def make(rng):
        low, high = kind_range
        a, b = rng.integers(low, high + 1, (m, k)), rng.integers(low, high + 1, (k, n))
        c = rng.integers(-20, 21, (m, n))
        in_memory = [np.ascontiguousarray(x.astype(store)) for x in (a, b.T if columns else b)]
        if store == BF16:
            in_memory = [x.view(np.uint16) for x in in_memory]
        args = [i32(n), i32(k), *in_memory, c.astype(accumulator), np.zeros((m, n), accumulator)]
        return Case(args, {5: (2 * (a @ b + c)).astype(accumulator)})

    return make


for _name, (_m, _n, _k), _store, _range, _acc, _columns in [
    ("f16", (16, 16, 16), f16, (-4, 4), f32, False),
    ("f16_columns", (16, 16, 16), f16, (-4, 4), f32, True),
    ("f16_f16", (16, 16, 16), f16, (-2, 2), f16, False),
    ("f16_32x8", (32, 8, 16), f16, (-4, 4), f32, False),
    ("f16_8x32", (8, 32, 16), f16, (-4, 4), f32, True),
    ("bf16", (16, 16, 16), BF16, (-4, 4), f32, False),
    ("s8", (16, 16, 16), np.int8, (-128, 127), i32, False),
    ("u8_columns", (16, 16, 16), np.uint8, (0, 255), i32, True),
    ("tf32", (16, 16, 8), f32, (-4, 4), f32, False),
    ("f64", (8, 8, 4), np.float64, (-99, 99), np.float64, True),
]:
    # 2 x 3 tiles, three steps of k
    _make = _wmma_case(2 * _m, 3 * _n, 3 * _k, _store, _range, _acc, _columns)
    add_program(f"wmma_{_name}", "matmul_wmma.sm_80", f"wmma_{_name}", (3, 2), 32, _make)


@program("matmul_wmma", grid=(2, 2), block=128)
def wmma_shared(rng):
    a, b = integers(rng, -4, 4, (64, 48), f16), integers(rng, -4, 4, (48, 64), f16)
    want = a.astype(f32) @ b.astype(f32)
    return Case([i32(64), i32(48), a, b, np.zeros((64, 64), f32)], {4: want})
