"""What kernels, remarks, layouts and verification results show in a notebook."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
import tilewright
import tilewright.language as T
from tilewright.kernel import JITKernel


def make_kernel(device: str | None = None) -> JITKernel:
    @T.prim_func
    def scale(A: T.Tensor((100,), "float32"), B: T.Tensor((100,), "float32")):
        with T.Kernel(T.ceildiv(100, 64), threads=64) as bx:
            s = T.alloc_shared((64,), "float32")
            T.copy(A[bx * 64], s)
            for i in T.Parallel(64):
                B[bx * 64 + i] = s[i] * 2.0

    return tilewright.compile(scale, out_idx=[1], device=device)


class Cells(HTMLParser):
    """Reads the cells of tables; every tag that opens must close."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.cells.append(data)


def test_a_kernel_shows_its_parameters_and_tiles() -> None:
    cells = Cells(make_kernel("cpu")._repr_html_()).cells
    assert "kernel 'scale' on cpu" in cells
    assert "launch 0: grid 2, 64 threads" in cells
    assert cells[cells.index("B") :][:4] == ["B", "float32", "100", "returned"]
    assert cells[cells.index("s") :][:5] == ["s", "shared", "float32", "64", "256"]


def test_remarks_show_line_and_decision() -> None:
    kernel = make_kernel("cpu")
    kernel.ir("ptx", arch="sm_80")
    cells = Cells(kernel.remarks._repr_html_()).cells
    assert f"{len(kernel.remarks)} remarks" in cells
    assert kernel.remarks[0].message in cells


def test_a_verification_shows_each_engine() -> None:
    result = make_kernel().verify(np.ones(100, np.float32))
    cells = Cells(result._repr_html_()).cells
    assert result.headline in cells
    assert cells[cells.index("cpu") + 1] == "agrees"
    result.refused["vgpu:sm_80"] = "too many <tiles>"
    assert "refuses it: too many <tiles>" in Cells(result._repr_html_()).cells


def test_layouts_show_their_picture() -> None:
    layout = T.Layout((8, 8), lambda i, j: [i, j ^ i])
    fragment = T.Fragment((8, 8), lambda i, j: (4 * i + j // 2, j % 2))
    for shown in (layout, fragment):
        text = shown._repr_html_()
        assert text.startswith("<div>") and "<svg" in text
        assert shown.plot() in text
