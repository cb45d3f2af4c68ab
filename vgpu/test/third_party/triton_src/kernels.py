"""Triton kernels written for these tests; `regenerate.py` compiles them, no test imports them."""
# ruff: noqa: N803 (constants are upper case in Triton)

import triton
import triton.language as tl


@triton.jit
def vector_add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=mask) + tl.load(y_ptr + i, mask=mask), mask=mask)


@triton.jit
def softmax(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * cols + c, e / tl.sum(e, axis=0), mask=c < cols)


@triton.jit
def layer_norm(x_ptr, w_ptr, b_ptr, out_ptr, mean_ptr, rstd_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * cols
    out_ptr += row * cols
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + c, mask=c < cols, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / cols
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + c, mask=c < cols, other=0.0).to(tl.float32)
        d = tl.where(c < cols, x - mean, 0.0)
        squares += d * d
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / cols + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        mask = c < cols
        x = tl.load(x_ptr + c, mask=mask, other=0.0).to(tl.float32)
        y = (x - mean) * rstd * tl.load(w_ptr + c, mask=mask) + tl.load(b_ptr + c, mask=mask)
        tl.store(out_ptr + c, y, mask=mask)


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, m, n, k,
    stride_am, stride_ak, stride_bk, stride_bn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    """C [m][n] = A x B with any strides; edges in m and n masked, k a multiple of BK."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a = a_ptr + rm[:, None] * stride_am + rk[None, :] * stride_ak
    b = b_ptr + rk[:, None] * stride_bk + rn[None, :] * stride_bn
    acc = tl.zeros((BM, BN), dtype=ACC)
    for _ in range(0, k, BK):
        x = tl.load(a, mask=rm[:, None] < m, other=0.0)
        y = tl.load(b, mask=rn[None, :] < n, other=0.0)
        acc = tl.dot(x, y, acc, out_dtype=ACC)
        a += BK * stride_ak
        b += BK * stride_bk
    c = c_ptr + rm[:, None] * n + rn[None, :]
    tl.store(c, acc.to(c_ptr.dtype.element_ty), mask=(rm[:, None] < m) & (rn[None, :] < n))


@triton.jit
def matmul_descriptors(a, b, c, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C = A x B^T through tensor descriptors (TMA): A [m][k], B [n][k]."""
    row = tl.program_id(0) * BM
    col = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, k, BK):
        acc = tl.dot(a.load([row, k0]), b.load([col, k0]).T, acc)
    c.store([row, col], acc.to(c.dtype))


@triton.jit
def flash_attention(
    q_ptr, k_ptr, v_ptr, out_ptr, length, scale,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Forward pass; heads [length][D], program_id(1) is the head; scale includes log2(e)."""
    start = tl.program_id(0) * BM
    base = tl.program_id(1) * length * D
    rm = start + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + base + rm[:, None] * D + d[None, :])
    top = tl.full([BM], -float("inf"), tl.float32)
    norm = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    last = start + BM if CAUSAL else length
    for n0 in range(0, last, BN):
        k = tl.load(k_ptr + base + (n0 + rn)[None, :] * D + d[:, None])
        v = tl.load(v_ptr + base + (n0 + rn)[:, None] * D + d[None, :])
        s = tl.dot(q, k) * scale
        if CAUSAL:
            s = tl.where(rm[:, None] >= (n0 + rn)[None, :], s, -float("inf"))
        new_top = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - new_top[:, None])
        shrink = tl.exp2(top - new_top)
        norm = norm * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])
        top = new_top
    out = acc / norm[:, None]
    tl.store(out_ptr + base + rm[:, None] * D + d[None, :], out.to(out_ptr.dtype.element_ty))


@triton.jit
def histogram_atomics(x_ptr, bins_ptr, sum_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.atomic_add(bins_ptr + x, 1, mask=i < n)
    tl.atomic_add(sum_ptr, tl.sum(x.to(tl.float32)))


@triton.jit
def scan_rows(x_ptr, out_ptr, COLS: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, COLS)
    tl.store(out_ptr + row * COLS + c, tl.cumsum(tl.load(x_ptr + row * COLS + c), 0))
