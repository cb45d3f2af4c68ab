"""Kernels compiled by Triton (triton_src/): lane maps, swizzles and pipelines are its own."""

import json

import ml_dtypes
import numpy as np
from program import PTX_FOLDER, Case, Close, TensorMapArg, add_program, integers

f16, f32, i32 = np.float16, np.float32, np.int32
LAUNCHES = json.loads((PTX_FOLDER / "triton.json").read_text())
# Triton's kernels end with two scratch pointers (global and profiling), null where unused.
NO_SCRATCH = [np.uint64(0), np.uint64(0)]


def _add(name, grid, make):
    launch = LAUNCHES[f"triton_{name}"]
    add_program(
        f"triton_{name}", f"triton_{name}", launch["entry"], grid, 32 * launch["num_warps"], make,
        launch["arch"], launch["shared_bytes"],
    )  # fmt: skip


def _add_case(dtype, n):
    def make(rng):
        x, y = integers(rng, -99, 99, n, dtype), integers(rng, -99, 99, n, dtype)
        return Case([x, y, np.zeros(n, dtype), i32(n), *NO_SCRATCH], {2: x + y})

    return make


_add("add_sm80", 2, _add_case(f32, 1000))
_add("add_unaligned_sm80", 4, _add_case(f16, 1001))


def _softmax_case(rows, cols):
    def make(rng):
        x = (rng.standard_normal((rows, cols)) * 3).astype(f32)
        e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
        want = Close(e / e.sum(1, keepdims=True), rtol=3e-6, atol=1e-9)
        return Case([x, np.zeros_like(x), i32(cols), *NO_SCRATCH], {1: want})

    return make


_add("softmax_sm80", 3, _softmax_case(3, 400))
_add("softmax_sm90", 2, _softmax_case(2, 1000))


def _layer_norm(rng):
    x = integers(rng, -8, 8, (4, 600), f16)
    w, b = integers(rng, -4, 4, 600, f32), integers(rng, -4, 4, 600, f32)
    d = x.astype(np.float64)
    mean, rstd = d.mean(1), 1 / np.sqrt(d.var(1) + 1e-5)
    y = (d - mean[:, None]) * rstd[:, None] * w + b
    want = {
        3: Close(y, rtol=6e-4, atol=6e-4),
        4: Close(mean, rtol=1e-6, atol=1e-7),
        5: Close(rstd, rtol=1e-6),
    }
    out = [np.zeros_like(x), np.zeros(4, f32), np.zeros(4, f32)]
    return Case([x, w, b, *out, i32(600), f32(1e-5), *NO_SCRATCH], want)


_add("layer_norm_sm80", 4, _layer_norm)


def _histogram(rng):
    x = integers(rng, 0, 15, 1000, i32)
    want = {1: np.bincount(x, minlength=16).astype(i32), 2: np.array([x.sum()], f32)}
    return Case([x, np.zeros(16, i32), np.zeros(1, f32), i32(1000), *NO_SCRATCH], want)


_add("histogram_sm80", 2, _histogram)


def _scan(rng):
    x = integers(rng, -99, 99, (3, 512), i32)
    return Case([x, np.zeros_like(x), *NO_SCRATCH], {1: x.cumsum(1, dtype=i32)})


_add("scan_sm80", 3, _scan)

ELEMENT = {
    "f16": f16,
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "tf32": f32,
    "f64": np.float64,
    "s8": np.int8,
    "e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
    "e5m2": np.dtype(ml_dtypes.float8_e5m2),
}


def _bits(array: np.ndarray) -> np.ndarray:
    """numpy's own dtypes as they are, those of ml_dtypes as raw integers."""
    return (
        array
        if array.dtype.kind in "fiu"
        else array.view({1: np.uint8, 2: np.uint16}[array.itemsize])
    )


def _matmul_case(kind, result, k, a_columns, b_columns, limit):
    m, n = (96, 80) if a_columns else (100, 80)  # edges in both; strides divisible by 16

    def make(rng):
        a, b = rng.integers(-limit, limit + 1, (m, k)), rng.integers(-limit, limit + 1, (k, n))
        stored = [a.T if a_columns else a, b.T if b_columns else b]
        stored = [_bits(np.ascontiguousarray(x.astype(ELEMENT[kind]))) for x in stored]
        strides = [i32(m if a_columns else k), i32(k if b_columns else n)]
        args = [*stored, np.zeros((m, n), result), i32(m), i32(n), i32(k), *strides, *NO_SCRATCH]
        return Case(args, {2: (a @ b).astype(result)})

    return make


# name, tile, element, result, k, A by columns, B by columns, largest magnitude (sums stay exact)
for _name, (_bm, _bn), _kind, _result, _k, _a_columns, _b_columns, _limit in [
    ("matmul_f16_sm80", (64, 64), "f16", f32, 96, False, False, 4),
    ("matmul_f16_columns_sm80", (64, 64), "f16", f16, 96, True, True, 3),
    ("matmul_bf16_sm80", (32, 64), "bf16", f32, 96, False, False, 4),
    ("matmul_f16_acc16_sm80", (32, 32), "f16", f16, 96, False, False, 3),
    ("matmul_tf32_sm80", (32, 32), "tf32", f32, 96, False, False, 4),
    ("matmul_s8_sm80", (32, 32), "s8", i32, 192, False, True, 127),
    ("matmul_f64_sm80", (32, 32), "f64", np.float64, 48, False, False, 99),
    ("matmul_e4m3_sm89", (32, 32), "e4m3", f32, 192, False, True, 3),
    ("matmul_e5m2_sm89", (32, 32), "e5m2", f32, 192, False, True, 3),
    ("matmul_f16_sm90", (64, 64), "f16", f32, 96, False, False, 4),
    ("matmul_f16_columns_sm90", (64, 128), "f16", f16, 96, True, True, 3),
    ("matmul_bf16_sm90", (64, 32), "bf16", f32, 192, False, False, 4),
    ("matmul_tf32_sm90", (64, 32), "tf32", f32, 96, False, True, 4),
    ("matmul_s8_sm90", (64, 32), "s8", i32, 192, False, True, 127),
    ("matmul_e4m3_sm90", (64, 32), "e4m3", f32, 192, False, True, 3),
]:
    _m = 96 if _a_columns else 100
    _make = _matmul_case(_kind, _result, _k, _a_columns, _b_columns, _limit)
    _add(_name, (-(-_m // _bm), -(-80 // _bn)), _make)


def _matmul_descriptors(rng):
    """A descriptor argument is a tensor map followed by its shape and its strides (both again)."""
    a, b = integers(rng, -3, 3, (128, 256), f16), integers(rng, -3, 3, (192, 256), f16)
    c = np.zeros((128, 192), f16)
    args = []
    for x in (a, b, c):
        shape_and_strides = [i32(x.shape[0]), i32(x.shape[1]), np.int64(x.shape[1]), np.int64(1)]
        args += [TensorMapArg(x, (64, 64), "128B"), *shape_and_strides]
    want = (a.astype(f32) @ b.astype(f32).T).astype(f16)
    return Case([*args, i32(256), *NO_SCRATCH], {10: want})


_add("matmul_tma_sm90", (2, 3), _matmul_descriptors)


def _attention_case(length, head, causal):
    def make(rng):
        q, k, v = (rng.standard_normal((2, length, head)).astype(f16) for _ in range(3))
        scale = f32(1 / np.sqrt(head) / np.log(2))
        s = (q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1)) * scale
        if causal:
            s = np.where(np.tri(length, dtype=bool), s, -np.inf)
        p = np.exp2(s - s.max(2, keepdims=True))
        want = (p / p.sum(2, keepdims=True)) @ v.astype(np.float64)
        args = [q, k, v, np.zeros_like(q), i32(length), scale, *NO_SCRATCH]
        return Case(args, {3: Close(want, rtol=2e-3, atol=2e-3)})

    return make


_add("attention_sm80", (2, 2), _attention_case(128, 32, causal=False))
_add("attention_causal_sm80", (4, 2), _attention_case(128, 64, causal=True))
_add("attention_sm90", (2, 2), _attention_case(128, 64, causal=False))
