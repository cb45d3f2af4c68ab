"""Tiles whose shapes differ by extents of 1 belong together in order of their other dimensions."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T

ENGINES = ("interp", "cpu", "vgpu:sm_80", "vgpu:sm_90")
SHAPES = [
    ((1, 64), (64, 1)),
    ((64, 1), (1, 64)),
    ((2, 1, 32), (2, 32, 1)),
    ((1, 2, 32), (2, 1, 32)),
    ((1, 1, 64), (64,)),
    ((2, 32), (2, 1, 32)),
]


def spread(shape: tuple[int, ...]) -> T.Layout:
    """A layout in which an index of the wrong dimension names the wrong element."""
    factors = np.cumprod([1, *(extent + 1 for extent in shape)])[: len(shape)]
    return T.Layout(
        shape, lambda *index: sum(int(f) * i for f, i in zip(factors, index, strict=True))
    )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("source_shape, dest_shape", SHAPES)
@pytest.mark.parametrize("space", ["shared", "fragment"])
def test_a_copy_between_shapes_of_the_same_elements(
    engine: str, source_shape: tuple[int, ...], dest_shape: tuple[int, ...], space: str
) -> None:
    """With a layout, GPU code took (1, 64) and (64, 1) for the same shape."""
    allocate = T.alloc_shared if space == "shared" else T.alloc_fragment

    @T.prim_func
    def main(A: T.Tensor(source_shape, "float32"), B: T.Tensor(dest_shape, "float32")):
        with T.Kernel(1, threads=64):
            source = T.alloc_shared(source_shape, "float32")
            dest = allocate(dest_shape, "float32")
            if space == "shared":
                T.annotate_layout({dest: spread(dest_shape)})
            T.copy(A, source)
            T.copy(source, dest)
            T.copy(dest, B)

    a = np.arange(64, dtype=np.float32).reshape(source_shape)
    b = np.zeros(dest_shape, np.float32)
    kernel = tilewright.compile(main, device=engine)
    kernel(a, b)
    np.testing.assert_array_equal(b.ravel(), a.ravel())
    assert kernel.findings == []


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("source_shape, dest_shape", SHAPES)
def test_an_update_of_a_shape_of_the_same_elements(
    engine: str, source_shape: tuple[int, ...], dest_shape: tuple[int, ...]
) -> None:
    @T.prim_func
    def main(A: T.Tensor(source_shape, "float32"), B: T.Tensor(dest_shape, "float32")):
        with T.Kernel(1, threads=64):
            source = T.alloc_shared(source_shape, "float32")
            dest = T.alloc_shared(dest_shape, "float32")
            T.annotate_layout({dest: spread(dest_shape)})
            T.copy(A, source)
            T.fill(dest, 1)
            T.atomic_add(dest, source)
            T.copy(dest, B)

    a = np.arange(64, dtype=np.float32).reshape(source_shape)
    b = np.zeros(dest_shape, np.float32)
    kernel = tilewright.compile(main, device=engine)
    kernel(a, b)
    np.testing.assert_array_equal(b.ravel(), a.ravel() + 1)
    assert kernel.findings == []
