"""Programs of hundreds of statements, and numbers of thousands: compilation stays fast."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import tilewright
import tilewright.language as T

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def growing(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The programs that the benchmark of compile time takes."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("growing")


@pytest.mark.parametrize("blocks", [1, 3])
def test_long_bodies_become_several_functions(growing: ModuleType, blocks: int) -> None:
    """LLVM's analyses are quadratic in the loops of one function."""
    kernel = tilewright.compile(growing.shuffled(130, 16, "int32", blocks), device="cpu")
    a = np.random.default_rng(1).integers(-9, 9, (16 * blocks, 16)).astype(np.int32)
    expected = np.empty_like(a)
    for block in range(blocks):
        rows = slice(16 * block, 16 * block + 16)
        x, y, z = a[rows].copy(), a[rows].copy(), np.ones((16, 16), np.int32)
        for kind in growing.kinds(130):
            to, source = ((x, y), (y, z), (z, x))[kind]
            to[:] = source.T - to
        expected[rows] = x
    kernel(a)
    np.testing.assert_array_equal(a, expected)
    assert ".part:" in kernel.program.compile_cpu()["asm"]


def test_ordinary_bodies_stay_whole(growing: ModuleType) -> None:
    kernel = tilewright.compile(growing.shuffled(20, 16, "int32", 2), device="cpu")
    assert ".part:" not in kernel.program.compile_cpu()["asm"]


def in_numpy(name: str, size: int, a: np.ndarray) -> np.ndarray:
    """What a program of `growing` computes, in float32 and in its order."""
    if name == "accesses in a statement":
        result = a[:, :64].copy()
        for k in range(1, size):
            result += a[:, k : k + 64]
        return result
    if name == "terms in a chain":
        result = a.copy()
        for k in range(1, size):
            result = result * np.float32(0.5) + np.float32(k % 7)
        return result

    def add(first: int, last: int) -> np.ndarray:
        if last - first == 1:
            return a * np.float32(first)
        return add(first, (first + last) // 2) + add((first + last) // 2, last)

    return add(0, size)


@pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80"])
@pytest.mark.parametrize("name", ["accesses in a statement", "terms in a chain", "terms in a tree"])
def test_long_statements_compute_the_same(growing: ModuleType, name: str, device: str) -> None:
    """They take ways of their own: rows as vectors, loops that stay loops, divided blocks."""
    size = 600
    kernel = tilewright.compile(growing.PROGRAMS[name](size), device=device)
    columns = size + 64 if name == "accesses in a statement" else 64
    a = np.random.default_rng(1).standard_normal((64, columns)).astype(np.float32)
    b = np.zeros((64, 64), np.float32)
    kernel(a, b)
    np.testing.assert_array_equal(b, in_numpy(name, size, a))


def many_in_numpy(name: str, size: int, a: np.ndarray) -> np.ndarray:
    """What the program leaves in its last tensor: small integers, so no order of sums matters."""
    if name == "pipelined loops":
        return size * (a[0].astype(np.float32) @ a[1].astype(np.float32))
    if name == "branches in a loop":
        result = a[0].copy()
        for flag in range(8):
            result = result * 2 + flag % 5
        return result
    result = np.zeros(256, np.float32)
    for k in range(size):
        result[(np.arange(128) + k) % 256] += a[0] * (k % 3)
    return result


@pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80", "vgpu:sm_90a"])
@pytest.mark.parametrize("name", ["pipelined loops", "branches in a loop", "atomics in a loop"])
def test_many_blocks_compute_the_same(growing: ModuleType, name: str, device: str) -> None:
    """A hundred loops test at their end; kernels of hundreds of blocks go without some passes."""
    size = 100 if name == "pipelined loops" else 400
    kernel = tilewright.compile(growing.PROGRAMS[name](size), device=device)
    random = np.random.default_rng(1)
    if name == "pipelined loops":
        inputs = [
            random.integers(-2, 3, shape).astype(np.float16) for shape in ((64, 128), (128, 64))
        ]
        result = np.zeros((64, 64), np.float32)
        kernel(*inputs, result)
    elif name == "branches in a loop":
        inputs = [random.integers(-4, 5, 128).astype(np.float32)]
        result = inputs[0].copy()
        kernel(result, np.arange(8, dtype=np.int32))
    else:
        inputs = [random.integers(-4, 5, 128).astype(np.float32)]
        result = np.zeros(256, np.float32)
        kernel(inputs[0], result)
    np.testing.assert_array_equal(result, many_in_numpy(name, size, inputs))


def test_sums_of_many_products_are_not_moved(growing: ModuleType) -> None:
    """LLVM moved the sums of the products beyond its 256 joins while wgmma still added to them."""
    kernel = tilewright.compile(growing.gemms(300), device="vgpu:sm_90a")
    a = np.random.default_rng(1).integers(-2, 3, (64, 32)).astype(np.float16)
    c = np.zeros((64, 64), np.float32)
    kernel(a, c)
    wide = a.astype(np.float32)
    np.testing.assert_array_equal(c, 300 * (wide @ wide.T))
    assert any("ends before the next statement" in str(remark) for remark in kernel.remarks)


@pytest.mark.parametrize(
    "name", ["pipelined loops", "branches in a loop", "atomics in a loop", "choices in a chain"]
)
def test_many_statements_compile_in_time(growing: ModuleType, name: str) -> None:
    """Each looked at all of those after it: for barriers, conflicts, or what may be deferred."""
    measure = importlib.import_module("bench_growth").measure
    sizes = (50, 200) if name == "pipelined loops" else (250, 1000)
    tilewright.disable_cache()
    try:
        short, long = (
            min(measure(growing.PROGRAMS[name], size, "sm_80")["whole"] for _ in range(2))
            for size in sizes
        )
    finally:
        tilewright.enable_cache()
    assert long < 7 * short


@pytest.mark.parametrize("device", ["interp", "cpu", "sm_80"])
@pytest.mark.parametrize("name", ["accesses in a statement", "terms in a chain", "terms in a tree"])
def test_long_statements_compile_in_time(growing: ModuleType, name: str, device: str) -> None:
    """Four times the terms take about four times as long; what is quadratic takes sixteen."""
    measure = importlib.import_module("bench_growth").measure
    tilewright.disable_cache()
    try:
        short, long = (
            min(measure(growing.PROGRAMS[name], size, device)["whole"] for _ in range(2))
            for size in (500, 2000)
        )
    finally:
        tilewright.enable_cache()
    assert long < 8 * short


def test_long_kernels_compile_in_time(growing: ModuleType) -> None:
    """Long blocks are divided for instruction selection; dividing them moved the rest each time."""
    chain = importlib.import_module("bench_compile").chain
    measure = importlib.import_module("bench_growth").measure
    tilewright.disable_cache()
    try:
        short, long = (measure(chain, size, "sm_80")["whole"] for size in (500, 2000))
    finally:
        tilewright.enable_cache()
    assert long < 6 * short  # 7.3 before


def test_statements_that_are_written_out_are_traced_in_time(tmp_path: Path) -> None:
    """Each statement had hidden names of its own, and each loop looked at all names; Python's
    collector of cycles looked at all of them again and again."""
    seconds = []
    for count in (500, 2000):
        lines = [
            "import tilewright.language as T",
            "@T.prim_func",
            'def main(A: T.Tensor((64,), "float32")):',
            "    with T.Kernel(1, threads=32):",
        ]
        for k in range(count):
            lines += ["        for i in T.Parallel(64):", f"            A[i] = A[i] * 2.0 + {k}.0"]
        path = tmp_path / f"written{count}.py"
        path.write_text("\n".join(lines))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        start = time.process_time()
        spec.loader.exec_module(module)
        seconds.append(time.process_time() - start)
    assert seconds[1] < 7 * seconds[0]


def test_fused_loops_end_somewhere(growing: ModuleType) -> None:
    """A loop of all statements has a body that LLVM's vectoriser looks at for seconds."""
    kernel = tilewright.compile(importlib.import_module("bench_compile").chain(200), device="cpu")
    kernel.program.compile_cpu()
    texts = [str(remark) for remark in kernel.remarks]
    assert any("starts a loop of its own: the loop before it has" in text for text in texts)
    assert any("statements from here on run as one loop" in text for text in texts)


def test_long_statements_stay_loops_on_gpus(growing: ModuleType) -> None:
    """Written out for all 32 elements of a thread, they would be one block of 20,000 loads."""
    kernel = tilewright.compile(growing.accesses(600), device="vgpu:sm_80")
    assert kernel.ir("ptx").count("ld.global") <= 600 * 4


def test_bounds_with_large_divisors_take_no_time() -> None:
    """MLIR's search for an integer point took 12 s in all, for a padding that no program has."""

    @T.prim_func
    def main(A: T.Tensor((1, 8, 8, 32), "float16"), B: T.Tensor((64, 32), "float16")):
        with T.Kernel(1, threads=128):
            tile = T.alloc_shared((64, 32), "float16")
            T.c2d_im2col(A, tile, 0, 0, 3, 1, 1, 20_000)
            T.copy(tile, B)

    start = time.process_time()
    kernel = tilewright.compile(main, device="vgpu:sm_80")
    assert time.process_time() - start < 4
    b = np.ones((64, 32), np.float16)
    kernel(np.ones((1, 8, 8, 32), np.float16), b)
    assert not b.any()  # all of it is padding
