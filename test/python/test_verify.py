"""`kernel.verify`: the first element that differs is named as the program names it."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright.runtime.device import ARCHS

M, N = 16, 32


def line_of(function, text: str) -> int:
    """The number of the one line of this file's `function` that has `text`."""
    lines, first = inspect.getsourcelines(function)
    (found,) = [first + i for i, line in enumerate(lines) if text in line]
    return found


def compile_scale(layout=None):
    """B = 2 * A + 1 in float32; B may be laid out otherwise in memory."""

    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=64):
            if layout is not None:
                T.annotate_layout({B: T.Layout((M, N), layout)})
            for i, j in T.Parallel(M, N):
                B[i, j] = A[i, j] * 2.0 + 1.0  # the store

    return tilewright.compile(main, device="vgpu:sm_80")


def arguments() -> tuple[np.ndarray, np.ndarray]:
    a = np.arange(M * N, dtype=np.float32).reshape(M, N)
    return a, np.full((M, N), -1, np.float32)


def with_wrong_address(ptx: str) -> str:
    """The last store goes 16 bytes further, so that something is never written."""
    stores = list(re.finditer(r"st\.global\S* \t?\[(%\w+)(\+\d+)?\]", ptx))
    last = stores[-1]
    offset = int((last[2] or "+0")[1:]) + 16
    return ptx[: last.start(1)] + f"{last[1]}+{offset}" + ptx[last.end() - 1 :]


def with_wrong_factor(ptx: str) -> str:
    """1.0, which is added, becomes 3.0."""
    assert "0f3F800000" in ptx
    return ptx.replace("0f3F800000", "0f40400000")


def test_a_correct_kernel_agrees() -> None:
    a, b = arguments()
    report = compile_scale().verify(a, b)
    assert report and not report.differences
    assert report.engines == ["interp", "cpu", "vgpu:sm_80", "vgpu:sm_90", "vgpu:sm_90a"]
    assert str(report).endswith(f"vgpu:sm_90 and vgpu:sm_90a agree: {2 * M * N} values compared")
    assert (b == -1).all(), "verify works on copies"


def test_the_first_difference_has_index_values_and_line() -> None:
    kernel = compile_scale()
    report = kernel.verify(*arguments(), ptx=with_wrong_factor(kernel.ptx))
    assert not report
    (difference,) = report.differences
    assert (difference.tensor, difference.index, difference.count) == ("B", (0, 0), M * N)
    assert (difference.expected, difference.got) == (1.0, 3.0)
    assert difference.writer["source"].endswith(
        f"test_verify.py:{line_of(compile_scale, '# the store')}"
    )
    assert difference.writer["block"] == [0, 0, 0]
    text = str(report)
    assert "'B'[0, 0]: the interpreter gives 1.0, vgpu:sm_80 gives 3.0, written by " in text
    assert f"test_verify.py:{line_of(compile_scale, '# the store')} (ptx:" in text
    assert f"{M * N} elements differ" in text


def test_the_index_is_logical_through_a_layout() -> None:
    kernel = compile_scale(lambda i, j: [j, M - 1 - i])  # transposed, rows reversed
    assert kernel.verify(*arguments())
    report = kernel.verify(*arguments(), ptx=with_wrong_factor(kernel.ptx))
    (difference,) = report.differences
    assert difference.offset == 0
    assert difference.index == (M - 1, 0)
    assert difference.expected == 2.0 * (M - 1) * N + 1


def test_memory_that_nobody_wrote_is_named() -> None:
    kernel = compile_scale()
    report = kernel.verify(*arguments(), ptx=with_wrong_address(kernel.ptx))
    (difference,) = report.differences
    assert difference.got == -1.0
    assert difference.writer is None
    assert "where no thread has written it" in str(difference)


def compile_row_sums(dtype: str = "float32", **options):
    """C = row sums of A, allocated by the call; of any number of rows."""
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n, 32), dtype), k: T.int32, C: T.Tensor((n,), dtype)):
        with T.Kernel(T.ceildiv(n, 16), threads=64) as bx:
            f = T.alloc_fragment((16, 32), "float32")
            r = T.alloc_fragment((16,), "float32")
            T.copy(A[bx * 16, 0], f)
            T.reduce_sum(f, r, dim=1)
            for i in T.Parallel(16):
                C[bx * 16 + i] = T.cast(r[i], dtype) * T.cast(k, dtype)

    return tilewright.compile(main, out_idx=[2], **options)


def test_inputs_are_made_up_and_one_line_is_printed(capsys) -> None:
    report = compile_row_sums().verify()
    assert report
    assert report.made_up == {"n": 200, "k": 3}
    (line,) = capsys.readouterr().out.splitlines()
    assert line == (
        "'main': interp, cpu, vgpu:sm_80, vgpu:sm_90 and vgpu:sm_90a agree: 6600 values compared "
        "on made-up inputs (n = 200, k = 3)"
    )
    assert compile_row_sums().verify(sizes={"n": 33}).made_up == {"n": 33, "k": 3}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3fn", "int8", "int64"])
def test_arguments_of_every_dtype_with_outputs_that_the_call_allocates(dtype: str) -> None:
    a = np.ones((20, 32)).astype(T.dtype(dtype).as_numpy())
    assert compile_row_sums(dtype).verify(a, 2)
    assert compile_row_sums(dtype).verify(A=a, k=2)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float8_e4m3fn", "uint8"])
def test_torch_tensors_of_every_dtype(dtype: str) -> None:
    torch = pytest.importorskip("torch", minversion="2.0")
    a = torch.ones((20, 32)).to(getattr(torch, dtype))
    assert compile_row_sums(dtype).verify(a, 2)


@tilewright.jit
def eager_scale(A, factor: float = 2.0):
    n = T.const("n")
    A: T.Tensor((n,), "float32")
    B = T.empty((n,), "float32")
    with T.Kernel(T.ceildiv(n, 64)) as bx:
        for i in T.Parallel(64):
            B[bx * 64 + i] = A[bx * 64 + i] * factor
    return B


def test_eager_kernels() -> None:
    a = np.arange(100, dtype=np.float32)
    assert eager_scale.verify(a)
    assert eager_scale.compile(a).verify(a)
    assert eager_scale.compile(n=70).verify()


def test_an_argument_that_a_call_refuses_is_refused() -> None:
    with pytest.raises(tilewright.TilewrightError, match="'A'"):
        compile_scale().verify(np.zeros((N, M), np.float32).T, np.zeros((M, N), np.float32))


def test_what_an_architecture_refuses_is_named() -> None:
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128):
            s = T.alloc_shared((50000,), "float32")  # fits sm_90, not sm_80
            T.clear(s)
            for i, j in T.Parallel(M, N):
                A[i, j] = s[i * N + j] + 1.0

    report = tilewright.compile(main, device="interp").verify()
    assert report and list(report.refused) == ["vgpu:sm_80"]
    assert "vgpu:sm_80 refuses it: kernel needs 200064 bytes of shared memory" in str(report)


def test_findings_are_told_once_for_all_engines() -> None:
    @T.prim_func
    def main(A: T.Tensor((M,), "int32")):
        with T.Kernel(2, threads=32) as bx:
            if A[1 + bx] == 0:
                A[0] = bx

    report = tilewright.compile(main, device="interp").verify(np.zeros(M, np.int32))
    assert not report
    assert [finding["kind"] for finding in report.findings] == ["race"]


def test_a_race_in_shared_memory_names_the_element_of_the_tile() -> None:
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((64,), "float32")
            for i in T.Parallel(64):
                s[i] = A[i]
            for i in T.Parallel(64):
                B[i] = s[63 - i]

    kernel = tilewright.compile(main, device="vgpu:sm_80")
    broken = "\n".join(line for line in kernel.ptx.splitlines() if "bar.sync" not in line)
    (race,) = [f for f in kernel.verify(ptx=broken).findings if f["kind"] == "race"]
    thread, other = race["index"][0], 63 - race["index"][0]
    assert race["message"] == (
        f"'s'[{thread}] is written by thread {thread} and read by thread {other}, "
        "and nothing orders them"
    )
    assert "ptx:" in race["details"][0]


def test_all_architectures_can_be_asked_for() -> None:
    result = compile_scale().verify(arch="all")
    assert result
    assert result.engines == ["interp", "cpu", *(f"vgpu:{arch}" for arch in ARCHS)]
