"""Flash attention, causal: the forward kernel of examples/ and the seed's backward kernel."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from types import ModuleType

import ml_dtypes
import numpy as np
import tilewright
from figures import ROOT, Figure
from tilewright.compat import imports

from cpu_speed.measure import torch
from cpu_speed.report import rate_figures

HEADS, LENGTH, DIM = 8, 1024, 128
DTYPES = {"float32": np.float32, "bfloat16": ml_dtypes.bfloat16, "float16": np.float16}
FORWARD_TARGETS = {"float32": 2, "bfloat16": 2, "float16": 3}
BACKWARD_TARGETS = {"float32": 2, "bfloat16": 2, "float16": 15}
COMPILE_BUDGET = 1000  # ms
PRODUCT = 1e-9 * HEADS * LENGTH * LENGTH * DIM  # GFLOP of one product, half of it masked


def load(path: str) -> ModuleType:
    """A program of examples/, which imports tilelang."""
    imports.install()
    spec = importlib.util.spec_from_file_location("program", ROOT / "examples" / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Problem:
    """Inputs, and the exact results in float64 of what a kernel is given."""

    def __init__(self, dtype: str):
        rng = np.random.default_rng(0)
        shape = (1, HEADS, LENGTH, DIM)
        self.q, self.k, self.v, self.do = (
            (0.5 * rng.standard_normal(shape)).astype(DTYPES[dtype]) for _ in range(4)
        )
        self.dtype = dtype

    def solve(self) -> None:
        q, k, v, do = (x.astype(np.float64) for x in (self.q, self.k, self.v, self.do))
        scale = DIM**-0.5
        scores = scale * q @ k.swapaxes(2, 3)
        scores = np.where(np.tril(np.ones((LENGTH, LENGTH), bool)), scores, -np.inf)
        largest = scores.max(-1, keepdims=True)
        weights = np.exp(scores - largest)
        total = weights.sum(-1, keepdims=True)
        weights /= total
        self.out = weights @ v
        self.lse = ((np.log(total) + largest) / np.log(2))[..., 0].astype(np.float32)
        self.delta = (self.out * do).sum(-1).astype(np.float32)
        self.dv = weights.swapaxes(2, 3) @ do
        inner = weights * (do @ v.swapaxes(2, 3) - self.delta[..., None]) * scale
        self.dq, self.dk = inner @ k, inner.swapaxes(2, 3) @ q

    def check(self, name: str, got: np.ndarray, exact: np.ndarray) -> None:
        error = np.abs(got.astype(np.float64) - exact).max() / np.abs(exact).max()
        limit = {"float32": 1e-4, "bfloat16": 4e-2, "float16": 5e-3}[self.dtype]
        assert error < limit, f"{name} {self.dtype}: error {error:.1e}"

    def in_torch(self) -> list:
        kind = getattr(torch, self.dtype)
        arrays = (self.q, self.k, self.v, self.do)
        return [torch.from_numpy(x.astype(np.float32)).to(kind) for x in arrays]


def forward_figures(problem: Problem) -> Iterator[Figure]:
    dtype = problem.dtype
    program = load("flash_attention.py").flash_attention
    kernel = tilewright.compile(program(1, HEADS, LENGTH, DIM, True, dtype=dtype), target="cpu")
    q, k, v = (np.ascontiguousarray(x.swapaxes(1, 2)) for x in (problem.q, problem.k, problem.v))
    out = np.zeros_like(q)
    kernel(q, k, v, out)
    problem.check("forward", out.swapaxes(1, 2), problem.out)
    peers = {}
    if torch:
        tq, tk, tv, _ = problem.in_torch()
        attend = torch.nn.functional.scaled_dot_product_attention
        peers["torch"] = lambda: attend(tq, tk, tv, is_causal=True)
    yield from rate_figures(f"attention {dtype}", lambda: kernel(q, k, v, out), peers,
                            2 * PRODUCT, "GFLOP/s", FORWARD_TARGETS[dtype],
                            scales=dtype == "float32")  # fmt: skip


def unpermuted(dq: np.ndarray) -> np.ndarray:
    """dQ without the layout that the seed gives it."""
    parts = dq.reshape(1, HEADS, LENGTH // 8, DIM // 8, 2, 8, 4)
    return parts.transpose(0, 1, 2, 5, 3, 6, 4).reshape(1, HEADS, LENGTH, DIM)


def backward_figures(problem: Problem) -> Iterator[Figure]:
    dtype = problem.dtype
    kernel = load("seed/flash_attention_backward.py").flashattn_bwd(
        1, HEADS, LENGTH, DIM, 1, dtype=dtype
    )
    inputs = [problem.q, problem.k, problem.v, problem.do, problem.lse, problem.delta]
    dq, dk, dv = outputs = [np.zeros(problem.q.shape, np.float32) for _ in range(3)]
    kernel(*inputs, *outputs)
    problem.check("dQ", unpermuted(dq), problem.dq)
    problem.check("dK", dk, problem.dk)
    problem.check("dV", dv, problem.dv)
    peers = {}
    if torch:
        tq, tk, tv, tdo = problem.in_torch()
        for tensor in (tq, tk, tv):
            tensor.requires_grad_()
        attend = torch.nn.functional.scaled_dot_product_attention
        result = attend(tq, tk, tv, is_causal=True)
        peers["torch"] = lambda: torch.autograd.grad(result, (tq, tk, tv), tdo, retain_graph=True)
    yield from rate_figures(f"seed {dtype}", lambda: kernel(*inputs, *outputs), peers,
                            5 * PRODUCT, "GFLOP/s", BACKWARD_TARGETS[dtype],
                            scales=dtype == "float32")  # fmt: skip
    phases = dict(kernel.program.compile_cpu()["phases"])
    note = "   " + ", ".join(f"{name} {ms:.0f}" for name, ms in phases.items())
    yield Figure(f"cpu: seed {dtype}, compile", sum(phases.values()), "ms", "the budget",
                 COMPILE_BUDGET, note=note)  # fmt: skip


def figures() -> Iterator[Figure]:
    for dtype in DTYPES:
        problem = Problem(dtype)
        problem.solve()
        yield from forward_figures(problem)
        yield from backward_figures(problem)
