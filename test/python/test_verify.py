"""`kernel.verify`: the first element that differs is named as the program names it."""

from __future__ import annotations

import inspect
import re

import numpy as np
import tilewright
import tilewright.language as T

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
    assert str(report).startswith(f"interpreter and vgpu:sm_80 agree: {2 * M * N} values compared")
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
    assert "'B'[0, 0]: the interpreter gives 1.0, the virtual GPU 3.0, written by " in text
    assert f"test_verify.py:{line_of(compile_scale, '# the store')} (ptx:" in text
    assert f"{M * N} elements differ" in text


def test_the_index_is_logical_through_a_layout() -> None:
    kernel = compile_scale(lambda i, j: [j, M - 1 - i])  # transposed, rows reversed
    assert kernel.verify(*arguments())
    report = kernel.verify(*arguments(), ptx=with_wrong_factor(kernel.ptx))
    (difference,) = report.differences
    assert difference.place == 0
    assert difference.index == (M - 1, 0)
    assert difference.expected == 2.0 * (M - 1) * N + 1


def test_memory_that_nobody_wrote_is_named() -> None:
    kernel = compile_scale()
    report = kernel.verify(*arguments(), ptx=with_wrong_address(kernel.ptx))
    (difference,) = report.differences
    assert difference.got == -1.0
    assert difference.writer is None
    assert "where no thread has written it" in str(difference)
