#!/usr/bin/env python3
"""Runs TileLang's examples of explicit roles and bulk reductions on the virtual GPU, for Hopper.

usage: scripts/hopper_examples.py --checkout DIR [NAME...]

DIR is a checkout of tile-ai/tilelang. Each example is compiled for sm_90a at a small size, as its
file has it, and runs in both modes of the virtual GPU with all checks; numpy says what must come
out. torch and einops need not be installed. A line an example: what came out, how many roles run at
once, how many mbarriers its code waits for, and the largest error. The exit status is 1 if one of
them differs, has a finding or is refused.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import tilewright
from tilewright.compat import imports

DEVICE = "vgpu:sm_90a"
MODES = ("", "late")


@dataclass(frozen=True)
class Made:
    """A kernel, the arrays it is called with, and those that must come out, by position."""

    kernel: Any
    arrays: list[np.ndarray]
    expected: dict[int, np.ndarray]
    tolerance: float


def numbers(seed: int, *shape: int) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal(shape) / 2).astype(np.float16)


def compile_function(made: Any) -> Any:
    """The kernel of what a file's function returned, for the virtual GPU."""
    return made if hasattr(made, "ptx") else tilewright.compile(made, device=DEVICE)


# ---- The examples ----


def gemm(function: str) -> Callable[[ModuleType], Made]:
    """A product by two roles; K has several tiles, so that stages are used again."""

    def make(module: ModuleType) -> Made:
        a, b = numbers(1, 256, 256), numbers(2, 256, 128)
        made = getattr(module, function)
        kernel = made.compile(a, b, 128, 128, 64)
        c = np.full((256, 128), np.nan, np.float16)
        want = a.astype(np.float32) @ b.astype(np.float32)
        return Made(kernel, [a, b, c], {2: want}, 2e-3)

    return make


def attend(q: np.ndarray, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """One query for each head, and the same keys and values for all heads."""
    scores = np.einsum("bhd,bsd->bhs", q, keys) / keys.shape[-1] ** 0.5
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhs,bsd->bhd", weights / weights.sum(-1, keepdims=True), values)


def mla(splits: int, *, passes_scale: bool, has_workspace: bool) -> Callable[[ModuleType], Made]:
    """Decoding with latent attention: 64 heads share keys of 512 + 64."""

    def make(module: ModuleType) -> Made:
        heads, context, dim, pe = 64, 256, 512, 64
        scale = [(dim + pe) ** -0.5] if passes_scale else []
        made = module.flashattn(1, heads, 1, context, dim, pe, 64, 64, splits, *scale)
        q, q_pe = numbers(1, 1, heads, dim), numbers(2, 1, heads, pe)
        kv, k_pe = numbers(3, 1, context, 1, dim), numbers(4, 1, context, 1, pe)
        arrays = [q, q_pe, kv, k_pe]
        if has_workspace:
            arrays += [np.zeros((1, heads, splits), np.float16),
                       np.zeros((1, heads, splits, dim), np.float16)]  # fmt: skip
        keys = np.concatenate([kv, k_pe], -1)[:, :, 0].astype(np.float64)
        query = np.concatenate([q, q_pe], -1).astype(np.float64)
        want = attend(query, keys, keys[..., :dim])
        arrays.append(np.full((1, heads, dim), np.nan, np.float16))
        return Made(compile_function(made), arrays, {len(arrays) - 1: want}, 4e-3)

    return make


def tma_reduce(causal: bool) -> Callable[[ModuleType], Made]:
    """Attention backward whose dQ, dK and dV are added by bulk reductions."""

    def make(module: ModuleType) -> Made:
        heads, groups, length, dim = 2, 2, 256, 64
        q, do = numbers(1, 1, length, heads, dim), numbers(2, 1, length, heads, dim)
        k, v = numbers(3, 1, length, 1, dim), numbers(4, 1, length, 1, dim)
        made = module.flashattn_bwd_atomic_add(
            1, heads, length, dim, dim, causal, 128, 32, threads=256, num_stages=2, groups=groups
        )
        wide = [np.moveaxis(x.astype(np.float64), 2, 1) for x in (q, do)]
        query, upper = wide
        key, value = (np.repeat(np.moveaxis(x.astype(np.float64), 2, 1), heads, 1) for x in (k, v))
        scores = query @ key.swapaxes(-1, -2) / dim**0.5
        if causal:
            scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
        largest = scores.max(-1, keepdims=True)
        total = np.exp(scores - largest).sum(-1, keepdims=True)
        weights = np.exp(scores - largest) / total
        lse = ((np.log(total) + largest)[..., 0] * 1.44269504).astype(np.float32)
        delta = (upper * (weights @ value)).sum(-1).astype(np.float32)
        inner = weights * (upper @ value.swapaxes(-1, -2) - delta[..., None]) / dim**0.5
        gradients = [inner @ key, (inner.swapaxes(-1, -2) @ query).sum(1, keepdims=True),
                     (weights.swapaxes(-1, -2) @ upper).sum(1, keepdims=True)]  # fmt: skip
        want = {6 + n: np.moveaxis(x, 1, 2) for n, x in enumerate(gradients)}
        sums = [np.zeros(x.shape, np.float32) for x in want.values()]
        return Made(compile_function(made), [q, k, v, do, lse, delta, *sums], want, 4e-3)

    return make


ROLES = "warp_specialize/example_warp_specialize_"
EXAMPLES: dict[str, tuple[str, Callable[[ModuleType], Made]]] = {
    "copy_0_gemm_1": (ROLES + "gemm_copy_0_gemm_1", gemm("matmul_warp_specialize_copy_0_gemm_1")),
    "copy_1_gemm_0": (ROLES + "gemm_copy_1_gemm_0", gemm("matmul_warp_specialize_copy_1_gemm_0")),
    "copy_gemm_0_1": (ROLES + "gemm_copy_gemm_0_1", gemm("matmul_warp_specialize_copy_gemm_0_1")),
    "softpipe_stage2": (ROLES + "gemm_softpipe_stage2", gemm("matmul")),
    "barrierpipe_stage2": (ROLES + "gemm_barrierpipe_stage2", gemm("matmul")),
    "flashmla": (ROLES + "flashmla", mla(1, passes_scale=False, has_workspace=True)),
    "mla_decode": (
        "deepseek_mla/example_mla_decode", mla(1, passes_scale=True, has_workspace=False),
    ),
    "mla_decode, split": (
        "deepseek_mla/example_mla_decode", mla(2, passes_scale=True, has_workspace=False),
    ),
    "mla_decode_ws": (
        "deepseek_mla/example_mla_decode_ws", mla(1, passes_scale=True, has_workspace=True),
    ),
    "mla_decode_persistent": (
        "deepseek_mla/example_mla_decode_persistent",
        mla(2, passes_scale=False, has_workspace=True),
    ),
    "gqa_bwd_tma_reduce": ("flash_attention/example_gqa_bwd_tma_reduce", tma_reduce(False)),
    "gqa_bwd_tma_reduce, causal": ("flash_attention/example_gqa_bwd_tma_reduce", tma_reduce(True)),
}  # fmt: skip

# ---- Running them ----


def stand_in() -> None:
    """Empty modules for what the files import for their own references."""
    if importlib.util.find_spec("einops") is None:
        sys.modules["einops"] = ModuleType("einops")
        for name in ("rearrange", "einsum", "repeat"):
            setattr(sys.modules["einops"], name, None)
    torch = importlib.import_module("torch")
    if not hasattr(torch, "__path__"):  # Tilewright's stand-in
        inner = ModuleType("torch.nn")
        inner.functional = ModuleType("torch.nn.functional")
        torch.nn = sys.modules["torch.nn"] = inner
        sys.modules["torch.nn.functional"] = inner.functional
        torch.compile = lambda function, **_: function
        torch.autograd = SimpleNamespace(Function=type("Function", (), {"apply": None}))


def load(path: Path) -> ModuleType:
    """The file as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None, path
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def error_of(made: Made, mode: str) -> float:
    """The largest error of a run, as a part of the largest number; raises with the first
    finding."""
    os.environ["TILEWRIGHT_VGPU_MODE"] = mode
    arrays = [array.copy() for array in made.arrays]
    program = getattr(made.kernel, "kernel", made.kernel)
    outputs = set(getattr(program, "out_idx", None) or [])
    returned = program(*(array for n, array in enumerate(arrays) if n not in outputs))
    if outputs:
        results = returned if isinstance(returned, list | tuple) else [returned]
        for position, result in zip(sorted(outputs), results, strict=True):
            arrays[position] = result
    if program.findings:
        raise RuntimeError(str(program.findings[0]))
    return max(
        float(np.nan_to_num(np.abs(arrays[n].astype(np.float64) - want), nan=np.inf).max()
              / np.abs(want).max())
        for n, want in made.expected.items()
    )  # fmt: skip


def show(name: str, checkout: Path) -> bool:
    """Runs an example and prints its line; whether all is right."""
    file, make = EXAMPLES[name]
    try:
        made = make(load(checkout / "examples" / f"{file}.py"))
        errors = [error_of(made, mode) for mode in MODES]
    except (tilewright.TilewrightError, RuntimeError) as error:
        print(f"{name:28} refused: {str(error).splitlines()[0]}", flush=True)
        return False
    kernel = made.kernel
    said = " ".join(str(remark) for remark in kernel.remarks)
    roles = re.findall(r"(\d+) roles run at once", said)
    turns = "; roles take turns" if "roles take turns" in said else ""
    waits = kernel.ptx.count("mbarrier.try_wait")
    is_right = max(errors) <= made.tolerance
    print(f"{name:28} {'right' if is_right else 'WRONG'}: {'+'.join(roles) or 'no'} roles at once"
          f"{turns}, {waits} waits for mbarriers, {kernel.ptx.count('cp.async.bulk')} bulk copies, "
          f"{kernel.ptx.count('cp.reduce.async.bulk')} bulk reductions, "
          f"error {max(errors):.1e}", flush=True)  # fmt: skip
    return is_right


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checkout", type=Path, required=True, help="of tile-ai/tilelang")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(EXAMPLES))
    options = parser.parse_args()
    if unknown := set(options.names) - set(EXAMPLES):
        parser.error(f"no example {', '.join(sorted(unknown))}; there are {', '.join(EXAMPLES)}")
    os.environ.update(TILEWRIGHT_DEVICE=DEVICE, TILEWRIGHT_ARCH="sm_90a")
    imports.install()
    stand_in()
    right = [show(name, options.checkout) for name in options.names or EXAMPLES]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
