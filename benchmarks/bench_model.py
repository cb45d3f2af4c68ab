"""The cost model beside published figures of H100s: GEMM, attention forward and backward.

Our kernels, which nobody has run on one, against those of others: an error has the model's part and
the part in which the kernels differ. Two constants of the model are calibrated on figures of this
file: how far the clock sinks (`throttle`, on cuBLAS at 8192), and how often a warp issues
(`ISSUE_INTERVAL`, on Triton's attention without roles at 4096). Those rows say so.

Sources; TFLOPS of float16 or bfloat16 on an H100 SXM if nothing else is said:
[fast.cu]  pranjalssh/fast.cu, README.md: cuBLAS and its own kernels, 8192 and 6144.
[2339]     triton-lang/triton issue 2339: cuBLAS at 2048 x n x n.
[fp8]      tile-ai/tilelang, benchmark/matmul_fp8/README.md: TileLang on an H800 SXM, tuned,
           8192 x 8192 x K (its milliseconds are labelled as seconds).
[3617]     pytorch/FBGEMM pull request 3617: CUTLASS with two tiles, float8, rows scaled.
[2391]     pytorch/benchmark pull request 2391: FlashAttention-3 and Triton's tutorial, heads of
           128, batch times length 16,384, 16 heads.
[206]      facebookexperimental/triton pull request 206: three schedules of attention in TLX,
           batch 4, 32 heads of 128.
[1267]     meta-pytorch/tritonbench pull request 1267: FlashAttention-3, causal, 4 x 48 heads of
           128, in microseconds.
[1256]     meta-pytorch/tritonbench pull request 1256: backward of FlashAttention-3 and TLX, the
           same sizes.
"""

from __future__ import annotations

import os
import runpy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from figures import ROOT, Figure

ARCH = "sm_90a"
FAST = {"tl.enable_fast_math": True}
PLAIN = {**FAST, "tl.disable_warp_specialized": True}


@dataclass(frozen=True)
class Case:
    """A kernel of ours, and a published figure for the same work."""

    group: str
    name: str
    function: str
    size: dict[str, Any]
    operations: float
    published: float  # TFLOPS
    source: str
    options: tuple[tuple[str, bool], ...] = ()
    script: str = "benchmarks/hopper_kernels.py"


def gemm(
    m: int, n: int, k: int, block_n: int, stages: int, published: float, source: str, **more: Any
) -> Case:
    size = {"M": m, "N": n, "K": k, "block_M": 128, "block_N": block_n, "block_K": 64,
            "stages": stages, "threads": 256, **more}  # fmt: skip
    kind = "fp8 gemm" if "dtype" in more else "gemm"
    name = f"{kind} {m} x {n} x {k}, tiles of 128x{block_n}x{size['block_K']}"
    return Case(kind, name, "gemm", size, 2.0 * m * n * k, published, source)


def attention(
    batch: int, heads: int, length: int, published: float, source: str, causal: bool = False,
    options: dict[str, bool] = FAST,
) -> Case:  # fmt: skip
    size = {"batch": batch, "heads": heads, "seq_len": length, "dim": 128, "causal": causal}
    operations = 4.0 * batch * heads * length * length * 128 / (2 if causal else 1)
    kind = "causal attention" if causal else "attention"
    roles = "" if options == FAST else ", no roles"
    name = f"{kind} {batch} x {heads} x {length}{roles}"
    return Case(kind, name, "attention", size, operations, published, source,
                tuple(options.items()))  # fmt: skip


def backward(batch: int, heads: int, length: int, published: float, source: str) -> Case:
    size = {"batch": batch, "heads": heads, "seq_len": length, "dim": 128, "groups": 1}
    operations = 10.0 * batch * heads * length * length * 128
    script = "examples/seed/flash_attention_backward.py"
    name = f"backward {batch} x {heads} x {length}"
    return Case("backward", name, "flashattn_bwd", size, operations, published, source, (), script)


def microseconds(batch: int, heads: int, length: int, time: float) -> float:
    """TFLOPS of causal attention."""
    return 2.0 * batch * heads * length * length * 128 / time / 1e6


FP8 = {"block_K": 128, "dtype": "float8_e4m3fn"}

CASES: list[Case] = [
    gemm(8192, 8192, 8192, 256, 3, 797.8, "[fast.cu] cuBLAS, calibrates the clock"),
    gemm(6144, 6144, 6144, 256, 3, 741.1, "[fast.cu] cuBLAS"),
    gemm(2048, 8192, 8192, 256, 3, 721.6, "[2339] cuBLAS"),
    gemm(2048, 4096, 4096, 256, 3, 613.7, "[2339] cuBLAS"),
    gemm(2048, 2048, 2048, 128, 4, 515.2, "[2339] cuBLAS"),
    gemm(2048, 1024, 1024, 128, 4, 243.1, "[2339] cuBLAS"),
    gemm(8192, 8192, 512, 128, 3, 622.0, "[fp8] TileLang", **FP8),
    gemm(8192, 8192, 1024, 128, 3, 927.0, "[fp8] TileLang", **FP8),
    gemm(8192, 8192, 2048, 128, 3, 1174.0, "[fp8] TileLang", **FP8),
    gemm(8192, 8192, 4096, 128, 3, 1378.0, "[fp8] TileLang", **FP8),
    gemm(8192, 8192, 8192, 128, 3, 1300.0, "[3617] CUTLASS, 128x128x128", **FP8),
    attention(32, 16, 512, 430.3, "[2391] FlashAttention-3"),
    attention(16, 16, 1024, 517.1, "[2391] FlashAttention-3"),
    attention(8, 16, 2048, 565.5, "[2391] FlashAttention-3"),
    attention(4, 16, 4096, 590.2, "[2391] FlashAttention-3"),
    attention(2, 16, 8192, 614.2, "[2391] FlashAttention-3"),
    attention(32, 16, 512, 328.9, "[2391] Triton", options=PLAIN),
    attention(16, 16, 1024, 389.7, "[2391] Triton", options=PLAIN),
    attention(8, 16, 2048, 433.7, "[2391] Triton", options=PLAIN),
    attention(4, 16, 4096, 458.4, "[2391] Triton, calibrates the issue", options=PLAIN),
    attention(2, 16, 8192, 470.7, "[2391] Triton", options=PLAIN),
    attention(4, 32, 1024, 478.1, "[206] TLX, roles and overlap"),
    attention(4, 32, 2048, 567.6, "[206] TLX, roles and overlap"),
    attention(4, 32, 4096, 548.7, "[206] TLX, roles and overlap"),
    attention(4, 32, 1024, 406.8, "[206] TLX, neither", options=PLAIN),
    attention(4, 32, 2048, 427.8, "[206] TLX, neither", options=PLAIN),
    attention(4, 32, 4096, 459.6, "[206] TLX, neither", options=PLAIN),
    attention(4, 48, 1024, microseconds(4, 48, 1024, 141.6), "[1267] FlashAttention-3", True),
    attention(4, 48, 2048, microseconds(4, 48, 2048, 368.4), "[1267] FlashAttention-3", True),
    attention(4, 48, 4096, microseconds(4, 48, 4096, 1236.9), "[1267] FlashAttention-3", True),
    backward(4, 48, 1024, 313.3, "[1256] FlashAttention-3"),
    backward(4, 48, 2048, 434.8, "[1256] FlashAttention-3"),
    backward(4, 48, 4096, 519.8, "[1256] FlashAttention-3"),
]


def predict(case: Case) -> Any:
    """What the model says of our kernel."""
    import tilewright
    from tilewright.compat import imports

    imports.install()
    os.environ.update(TILEWRIGHT_ARCH=ARCH, TILEWRIGHT_DEVICE=f"vgpu:{ARCH}")
    made = runpy.run_path(str(ROOT / case.script))[case.function](**case.size)
    kernel = getattr(made, "kernel", made)
    if not hasattr(kernel, "predict"):
        options = dict(case.options)
        kernel = tilewright.compile(made, device=f"vgpu:{ARCH}", pass_configs=options)
    return kernel.predict(arch=ARCH)


def ranks(values: list[float]) -> list[float]:
    """Of each value, ties sharing theirs."""
    ordered = sorted(values)
    return [
        (ordered.index(value) + len(ordered) - 1 - ordered[::-1].index(value)) / 2
        for value in values
    ]


def rank_correlation(left: list[float], right: list[float]) -> float:
    """Spearman's: 1 if both order the cases alike, -1 if one is the other's reverse."""
    a, b = ranks(left), ranks(right)
    mean = (len(a) - 1) / 2
    product = sum((x - mean) * (y - mean) for x, y in zip(a, b, strict=True))
    squares = sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b)
    return product / squares**0.5 if squares else 0.0


def figures() -> Iterator[Figure]:
    """Each case, then the mean error and the rank correlation of each kind and of all."""
    found: list[tuple[Case, float]] = []
    for case in CASES:
        prediction = predict(case)
        teraflops = case.operations / prediction.milliseconds / 1e9
        found.append((case, teraflops))
        error = teraflops / case.published - 1
        note = f"  predicted; published {case.published:.0f} {case.source}, error {error:+.0%}"
        note += f", limited by {prediction.limited_by}"
        yield Figure(case.name, teraflops, "TFLOPS", note=note)
    yield from summarise(found)


def summarise(found: list[tuple[Case, float]]) -> Iterator[Figure]:
    """Errors and correlations."""
    groups: dict[str, list[tuple[Case, float]]] = {}
    for case, value in found:
        groups.setdefault(case.group, []).append((case, value))
    for name, members in [*groups.items(), ("all", found)]:
        errors = [abs(value / case.published - 1) for case, value in members]
        yield Figure(f"mean error, {name}", 100 * sum(errors) / len(errors), "%",
                     note=f"  of {len(members)} cases, largest {max(errors):.0%}")  # fmt: skip
        if len(members) >= 8:
            published = [case.published for case, _ in members]
            correlation = rank_correlation(published, [value for _, value in members])
            yield Figure(f"rank correlation, {name}", correlation, "", note="  1: same order")
