"""Attention backward in plain numpy, and the kernel's layout of dQ read back.

Nothing here knows how the kernel works: whole matrices, float64, the textbook formulas.
"""

from __future__ import annotations

import numpy as np

LOG2_E = 1.44269504  # as the seed script has it


def attention_backward(
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    dO: np.ndarray,
    groups: int,
    window: int | None,
) -> dict[str, np.ndarray]:
    """dQ, dK, dV, and the statistics `lse` (base 2) and `delta` that the kernel takes.

    Query i sees the keys j <= i, and with a window only those with j > i - window. `groups` query
    heads share a key head; dK and dV are their sums.
    """
    batch, heads, length, dim = Q.shape
    scale = (1.0 / dim) ** 0.5
    q, do = Q.astype(np.float64), dO.astype(np.float64)
    k = np.repeat(K.astype(np.float64), groups, axis=1)
    v = np.repeat(V.astype(np.float64), groups, axis=1)

    i, j = np.arange(length)[:, None], np.arange(length)[None, :]
    seen = j <= i
    if window is not None:
        seen &= j > i - window
    scores = np.where(seen, q @ k.swapaxes(-1, -2) * scale, -np.inf)
    largest = scores.max(-1, keepdims=True)
    weights = np.exp(scores - largest)
    total = weights.sum(-1, keepdims=True)
    p = weights / total
    lse = (np.log(total) + largest)[..., 0] * LOG2_E
    delta = (do * (p @ v)).sum(-1)

    dv = p.swapaxes(-1, -2) @ do
    ds = p * (do @ v.swapaxes(-1, -2) - delta[..., None]) * scale
    dq, dk = ds @ k, ds.swapaxes(-1, -2) @ q
    shared = (batch, heads // groups, groups, length, dim)
    return {
        "dQ": dq.astype(np.float32),
        "dK": dk.reshape(shared).sum(2).astype(np.float32),
        "dV": dv.reshape(shared).sum(2).astype(np.float32),
        "lse": lse.astype(np.float32),
        "delta": delta.astype(np.float32),
    }


def dq_from_layout(stored: np.ndarray) -> np.ndarray:
    """dQ in its logical order, out of the order in which the kernel stores it.

    Element (b, h, l, d) sits at (b, h, l // 8, d // 8, d % 2, 4 * (l % 8) + d % 8 // 2).
    """
    batch, heads, length, dim = stored.shape
    blocks = stored.reshape(batch, heads, length // 8, dim // 8, 2, 8, 4)
    # axes: b, h, l // 8, d // 8, d % 2, l % 8, d % 8 // 2
    return blocks.transpose(0, 1, 2, 5, 3, 6, 4).reshape(stored.shape)
