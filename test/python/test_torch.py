"""Real torch tensors as arguments, results and inputs; skipped where torch is not installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright.supply import TensorSupplyType

torch = pytest.importorskip("torch", minversion="2.0")


@tilewright.jit(out_idx=[-1], device="cpu")
def scale(n, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((n,), dtype), B: T.Tensor((n,), dtype)):
        with T.Kernel(T.ceildiv(n, 32), threads=32) as block:
            for i in T.Parallel(32):
                B[block * 32 + i] = A[block * 32 + i] * 2

    return main


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32", "uint8"])
def test_results_are_torch_tensors(dtype: str) -> None:
    a = torch.arange(50).to(getattr(torch, dtype))
    for _ in range(3):
        result = scale(50, dtype)(a)
        assert isinstance(result, torch.Tensor)
        assert result.dtype == a.dtype
        assert torch.equal(result, a * 2)
    assert isinstance(scale(50)(np.zeros(50, np.float32)), np.ndarray)


def test_calls_are_checked_although_an_equal_one_was_before() -> None:
    kernel = scale(4)
    kernel(torch.zeros(4))
    for wrong in (torch.zeros(5), torch.zeros(8)[::2], torch.zeros(4, dtype=torch.float64)):
        with pytest.raises(tilewright.TilewrightError, match="parameter 'A'"):
            kernel(wrong)
    flipped = torch.zeros(4, dtype=torch.complex64).conj().imag
    if flipped.is_neg():
        with pytest.raises(tilewright.TilewrightError, match="parameter 'A'"):
            kernel(flipped)


class Labelled(torch.Tensor):
    """A tensor of a class that is not torch's own."""


@pytest.mark.filterwarnings("ignore::UserWarning")  # torch's, about what it calls prototypes
@pytest.mark.parametrize(
    ("change", "layout"),
    [
        (torch.Tensor.to_sparse, "sparse_coo"),
        (torch.Tensor.to_mkldnn, "_mkldnn"),
        (lambda a: torch.nested.nested_tensor([a, a]), "nested"),
    ],
)
def test_tensors_without_rows_are_errors(change, layout: str) -> None:
    with pytest.raises(tilewright.TilewrightError, match=f"'A': the tensor has no .*{layout}"):
        scale(50)(change(torch.zeros(50)))


def test_results_for_tensors_of_a_users_class_are_torch_tensors() -> None:
    a = torch.arange(50.0).as_subclass(Labelled)
    a.requires_grad_()
    for _ in range(3):
        result = scale(50)(a)
        assert isinstance(result, torch.Tensor)
        assert torch.equal(result, a.detach() * 2)


def test_profiler_supplies_torch_tensors() -> None:
    profiler = scale(64).get_profiler(TensorSupplyType.Randn)
    profiler.assert_allclose(lambda a: a * 2)
    with pytest.raises(AssertionError, match="elements differ"):
        profiler.assert_allclose(lambda a: a * 3)
    [made] = profiler._get_inputs()
    assert isinstance(made, torch.Tensor)


def test_scripts_that_ask_for_cuda_run_without_it(tmp_path: Path) -> None:
    """`tw run` gives them tensors in main memory, and events and streams of an idle device."""
    script = tmp_path / "script.py"
    script.write_text(
        "import torch, tilelang\n"
        "import tilelang.language as T\n"
        "@tilelang.jit(out_idx=[-1])\n"
        "def double(n):\n"
        "    @T.prim_func\n"
        "    def main(A: T.Tensor((n,), 'float32'), B: T.Tensor((n,), 'float32')):\n"
        "        with T.Kernel(1, threads=32):\n"
        "            for i in T.Parallel(n):\n"
        "                B[i] = A[i] * 2\n"
        "    return main\n"
        "from tilelang.carver.arch import driver\n"
        "from tilelang.utils.tensor import torch_assert_close\n"
        "torch.cuda.manual_seed(0)\n"
        "properties = torch.cuda.get_device_properties('cuda')\n"
        "assert properties.multi_processor_count == driver.get_num_sms() == 108\n"
        "start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))\n"
        "a = torch.randn(32, device='cuda')\n"
        "b = torch.arange(32, dtype=torch.float32).to(torch.device('cuda:0')).cuda()\n"
        "start.record()\n"
        "with torch.device('cuda'):\n"
        "    assert torch.equal(double(32)(a + torch.zeros(32)), 2 * a)\n"
        "assert torch.equal(double(32)(b), torch.full_like(b, 2, device='cuda') * b)\n"
        "torch_assert_close(a, a + 1e-5)\n"
        "assert a.is_cuda and (a + b).device == torch.device('cuda:0') and b.get_device() == 0\n"
        "assert torch.ones_like(a, device=a.device).sum().item() == 32\n"
        "assert torch.cuda.get_device_capability() == (8, 0)\n"
        "assert not torch.ones(2).is_cuda and torch.ones(2).cuda().is_cuda\n"
        "assert a.cpu().device == torch.device('cpu') == torch.zeros(2, device='cpu').device\n"
        "host = torch.zeros(4); moved, back = host.cuda(), a.cpu()\n"
        "moved += 1; a.mul_(1); a[0] += 1\n"
        "assert host.sum() == 0 and back[0] != a[0] and moved.to('cuda') is moved\n"
        "assert torch.compile(lambda x: x + 1)(a).is_cuda\n"
        "@tilelang.jit(out_idx=[-1])\n"
        "def ones():\n"
        "    @T.prim_func\n"
        "    def main(B: T.Tensor((4,), 'float32')):\n"
        "        with T.Kernel(1, threads=32):\n"
        "            for i in T.Parallel(4):\n"
        "                B[i] = 1\n"
        "    return main\n"
        "assert ones()().is_cuda\n"
        "pinned = torch.empty(4, device='cpu', pin_memory=True).pin_memory()\n"
        "assert not pinned.is_cuda and pinned.to(device=a.device, non_blocking=True).is_cuda\n"
        "x = torch.ones(3, device='cuda', requires_grad=True); (x * x).sum().backward()\n"
        "assert x.grad.is_cuda\n"
        "@torch.library.custom_op('tilewright_test::twice', mutates_args=())\n"
        "def twice(x: torch.Tensor) -> torch.Tensor:\n"
        "    assert x.is_cuda and torch.empty(3, device=x.device).is_cuda\n"
        "    return double(32)(x.to('cuda'))\n"
        "assert torch.equal(torch.ops.tilewright_test.twice(b), 2 * b)\n"
        "assert properties.shared_memory_per_block_optin == 163 << 10\n"
        "with torch.cuda.device(0), torch.random.fork_rng(devices=[0]):\n"
        "    first = torch.randn(4, device='cuda')\n"
        "assert torch.equal(torch.randn(4, device='cuda'), first)\n"
        "end.record()\n"
        "torch.cuda.synchronize()\n"
        "print('took a while' if start.elapsed_time(end) > 0 else 'took no time')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "tilewright", "run", script],
        capture_output=True, text=True, check=False, env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("took a while\n")


def test_small_integers_are_compressed() -> None:
    from tilewright.compat.tilelang.quantize import general_compress

    numbers = torch.tensor([[1, 15, -8, 7], [0, 2, 4, 8]], dtype=torch.int8)
    packed = general_compress(numbers & 15, 4, torch.uint8)
    assert packed.tolist() == [[0xF1, 0x78], [0x20, 0x84]]
    assert general_compress(numbers & 3, source_bits=2).tolist() == [[-51], [8]]
