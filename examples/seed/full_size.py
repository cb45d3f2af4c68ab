"""The seed kernel at its script's own size, on the CPU: 1 x 64 heads x 4096 x 128.

The forward pass (attention_forward.py) makes the statistics that the backward kernel takes. One
group of query heads, with the key head they share, is then computed by numpy head by head and
compared: dQ of each, dK and dV of all together, and the statistics. Where torch is installed its
backward pass is timed on as many heads as it has threads (it gives each head to one).
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distribution

import numpy as np
from attention_forward import attention_forward
from reference import LOG2_E, dq_from_layout
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from tilewright.runtime.progress import ProgressLine


@dataclass
class Tensors:
    """What goes in and what comes out."""

    inputs: dict[str, np.ndarray]
    lse: np.ndarray
    delta: np.ndarray
    outputs: dict[str, np.ndarray] = field(default_factory=dict)


def gigaflops(case, products: int) -> float:
    """Floating-point operations of that many causal matrix products, in 10^9."""
    return products * 1e-9 * case.batch * case.heads * case.seq_len**2 * case.dim


def call_with_bar(progress: Progress, label: str, kernel, *arguments) -> float:
    """Calls a kernel and shows how many of its blocks are done; the seconds it took."""
    task = progress.add_task(label, total=None)

    def show(_launch: int, done: int, blocks: int) -> None:
        progress.update(task, completed=done, total=blocks)

    kernel.watch(ProgressLine(kernel, sys.stdout) if progress.disable else show)
    start = time.perf_counter()
    kernel(*arguments)
    seconds = time.perf_counter() - start
    kernel.watch(None)
    progress.update(task, completed=progress.tasks[task].total or 1)
    return seconds


def head_backward(q, k, v, do, scale: float) -> dict[str, np.ndarray]:
    """One head by the textbook formulas, whole matrices in float32."""
    scores = (q @ k.T) * np.float32(scale)
    scores[np.triu_indices(len(q), 1)] = -np.inf
    largest = scores.max(-1, keepdims=True)
    p = np.exp(scores - largest)
    total = p.sum(-1, keepdims=True)
    p /= total
    delta = (do * (p @ v)).sum(-1)
    ds = do @ v.T
    ds -= delta[:, None]
    ds *= p
    ds *= np.float32(scale)
    lse = (np.log(total) + largest)[:, 0] * LOG2_E
    return {"dQ": ds @ k, "dK": ds.T @ q, "dV": p.T @ do, "lse": lse, "delta": delta}


def compare(case, tensors: Tensors, group: int, progress: Progress) -> dict[str, float]:
    """The largest error of each result in one group of heads, relative to its largest value."""
    task = progress.add_task("comparing with numpy", total=case.groups)
    heads = range(group * case.groups, (group + 1) * case.groups)
    k, v = (tensors.inputs[name][0, group].astype(np.float32) for name in ("K", "V"))
    errors = dict.fromkeys(("dQ", "dK", "dV", "lse", "delta"), 0.0)
    sums = {name: np.zeros_like(k) for name in ("dK", "dV")}

    def note(name: str, got: np.ndarray, wanted: np.ndarray) -> None:
        worst = np.abs(got - wanted).max() / np.abs(wanted).max()
        errors[name] = max(errors[name], float(worst if np.isfinite(worst) else np.inf))

    for head in heads:
        q, do = (tensors.inputs[name][0, head].astype(np.float32) for name in ("Q", "dO"))
        wanted = head_backward(q, k, v, do, case.dim**-0.5)
        stored = tensors.outputs["dQ"][:, head : head + 1]
        note("dQ", dq_from_layout(stored)[0, 0], wanted["dQ"])
        note("lse", tensors.lse[0, head], wanted["lse"])
        note("delta", tensors.delta[0, head], wanted["delta"])
        for name, total in sums.items():
            total += wanted[name]
        progress.advance(task)
    for name, total in sums.items():
        note(name, tensors.outputs[name][0, group], total)
    return errors


def time_torch(tensors: Tensors, dtype: str) -> tuple[int, float]:
    """Torch's backward pass: how many heads, and seconds for them."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    heads = min(torch.get_num_threads(), tensors.inputs["K"].shape[1])

    def backward(length: int) -> float:
        parts = [tensors.inputs[name][:, :heads, :length] for name in ("Q", "K", "V", "dO")]
        q, k, v, do = (torch.from_numpy(x.copy()).to(getattr(torch, dtype)) for x in parts)
        leaves = [x.requires_grad_() for x in (q, k, v)]
        out = scaled_dot_product_attention(*leaves, is_causal=True)
        start = time.perf_counter()
        out.backward(do)
        return time.perf_counter() - start

    backward(64)  # starts its threads
    return heads, backward(tensors.inputs["Q"].shape[2])


def run_full_size(console: Console, case, backward, tolerance: float) -> bool:
    """Runs and reports; true if all is right."""
    console.print(f"the script's own size, {case}, on the CPU:")
    rng = np.random.default_rng(0)
    q_shape = (case.batch, case.heads, case.seq_len, case.dim)
    kv_shape = (case.batch, case.heads // case.groups, case.seq_len, case.dim)
    shapes = {"Q": q_shape, "K": kv_shape, "V": kv_shape, "dO": q_shape}
    inputs = {
        name: rng.standard_normal(shape, np.float32).astype(np.float16)
        for name, shape in shapes.items()
    }
    columns = (
        TextColumn("  {task.description:24}"), BarColumn(), MofNCompleteColumn(),
        TimeElapsedColumn(),
    )  # fmt: skip
    forward = attention_forward(case.batch, case.heads, case.seq_len, case.dim, case.groups)
    tensors = Tensors(inputs, np.zeros(q_shape[:3], np.float32), np.zeros(q_shape[:3], np.float32))
    tensors.outputs = {
        "dQ": np.zeros(q_shape, np.float32),
        "dK": np.zeros(kv_shape, np.float32),
        "dV": np.zeros(kv_shape, np.float32),
    }
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        out = np.zeros(q_shape, np.float16)
        q, k, v, do = inputs.values()
        first = call_with_bar(progress, "forward", forward, q, k, v, out, tensors.lse)
        np.einsum("bhld,bhld->bhl", do, out, dtype=np.float32, out=tensors.delta)
        second = call_with_bar(
            progress, "backward (the seed)", backward, q, k, v, do, tensors.lse, tensors.delta,
            *tensors.outputs.values(),
        )  # fmt: skip
        errors = compare(case, tensors, case.heads // case.groups // 2, progress)
    console.print(f"  forward  {first:6.2f} s, {gigaflops(case, 2) / first:6.1f} GFLOP/s")
    console.print(f"  backward {second:6.2f} s, {gigaflops(case, 5) / second:6.1f} GFLOP/s")
    show_torch(console, case, tensors, gigaflops(case, 5) / second)
    shown = ", ".join(f"{name} {error:.1e}" for name, error in errors.items())
    is_good = max(errors.values()) <= tolerance
    verdict = "[green]agree[/green]" if is_good else "[red]DIFFER[/red]"
    console.print(
        f"  {case.groups} of {case.heads} heads {verdict} with numpy; relative errors: {shown}"
    )
    return is_good


def show_torch(console: Console, case, tensors: Tensors, ours: float) -> None:
    """Torch's speed next to ours."""
    try:
        distribution("torch")  # an import would also find the stand-in of `tw run`
    except PackageNotFoundError:
        console.print("  torch is not installed, so that there is nothing to compare the time with")
        return
    for dtype in ("float16", "float32"):
        heads, seconds = time_torch(tensors, dtype)
        speed = gigaflops(case, 5) * heads / case.heads / seconds
        console.print(
            f"  torch    {seconds:6.2f} s for {heads} heads in {dtype}, {speed:6.1f} GFLOP/s: ours "
            f"is {ours / speed:.1f} x as fast"
        )
