"""What scripts use around their kernels: modules of TileLang and TVM, methods of functions."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilelang
import tilelang.language as T


@tilelang.jit
def scaled(A, factor: float = 2.0):
    M, N = T.const("M, N")
    A: T.Tensor((M, N), "float32")
    B = T.empty((M, T.ceildiv(N, 2)), "float32")
    with T.Kernel(M, threads=32) as bx:
        for j in T.Parallel(T.ceildiv(N, 2)):
            B[bx, j] = A[bx, j * 2] * factor
    return B


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("tilelang", "DataType"),
        ("tilelang", "tvm"),
        ("tvm", "DataType"),
        ("tvm", "tirx"),
        ("tvm.target", "Target"),
        ("tilelang.transform", "PassConfigKey"),
        ("tilelang.transform", "simplify_prim_func"),
        ("tilelang.tileop.base", "GemmWarpPolicy"),
        ("tilelang.engine.callback", "register_cuda_postproc_callback"),
        ("tilelang.carver.template", "MatmulTemplate"),
        ("tilelang.carver.arch", "CUDA"),
        ("tilelang.carver.roller.rasterization", "NoRasterization"),
        ("tilelang.cuda.intrinsics", "make_mma_swizzle_layout"),
        ("tilelang.tools", "plot_layout"),
        ("tilelang.utils.tensor", "get_tensor_supply"),
    ],
)
def test_name_can_be_imported(module: str, name: str) -> None:
    assert getattr(importlib.import_module(module), name) is not None


def test_unknown_module_is_refused_at_the_line_that_imports_it() -> None:
    with pytest.raises(tilelang.TilewrightError) as caught:
        import tvm.relay.op  # noqa: F401
    assert "test_tilelang_surface.py:" in str(caught.value)
    assert "the module 'tvm.relay' is not supported yet" in str(caught.value)


def test_use_of_what_is_not_part_is_an_error() -> None:
    """Importing a cost model is harmless; using it says what to do instead."""
    from tilelang.carver.template import MatmulTemplate

    with pytest.raises(tilelang.TilewrightError, match="not part of Tilewright; the carver's"):
        MatmulTemplate(M=64, N=64, K=64).with_arch(None)


def test_questions_about_the_device() -> None:
    from tilelang.contrib import nvcc
    from tilelang.language.fp8 import determine_fp8_type

    assert nvcc.get_target_compute_version() == "8.0"
    assert determine_fp8_type() == "float8_e4m3fn"
    assert determine_fp8_type("e5m2") == T.float8_e5m2


def test_widths_of_types() -> None:
    """Numbers of four bits can be stored, other packed formats only be named."""
    assert tilelang.DataType("float16").bits == 16
    assert (T.int4.bits, T.int4.bytes, str(T.int4)) == (4, 1, "int4")
    assert T.dtype("int4") is T.int4
    assert T.Tensor((4,), T.int4).dtype == "int4"
    with pytest.raises(tilelang.TilewrightError, match="dtype 'float8_e8m0fnu' is not supported"):
        T.Tensor((4,), T.float8_e8m0fnu)


def test_source_of_a_jitted_function() -> None:
    """The constants of `T.const` stand in for tensors, in expressions of extents too."""
    assert "tile.kernel" in scaled.get_kernel_source(M=4, N=64)
    a = np.arange(256, dtype=np.float32).reshape(4, 64)
    np.testing.assert_array_equal(scaled(a), a[:, ::2] * 2)


def test_tuned_function_takes_constants_by_name() -> None:
    tuned = tilelang.autotune(configs=[{"factor": 2.0}, {"factor": 3.0}])(scaled)
    kernel = tuned.compile(M=4, N=64, factor=3.0)
    assert [p["shape"] for p in kernel.params] == [[4, 64], [4, 32]]


def run(func: Any, *arrays: np.ndarray) -> None:
    for device in ("interp", "cpu", "vgpu:sm_80"):
        tilelang.compile(func, device=device)(*arrays)


def test_variables_can_be_cleared_and_filled() -> None:
    @T.prim_func
    def main(B: T.Tensor((3,), "float32")):
        with T.Kernel(1, threads=32):
            x = T.alloc_var("float32")
            T.fill(x, 5)
            B[0] = x
            T.clear(x)
            B[1] = x + 1
            B[2] = (x + 2.75).astype("int32").astype(T.float32)

    b = np.zeros(3, np.float32)
    run(main, b)
    np.testing.assert_array_equal(b, [5, 1, 2])


def test_tensor_over_the_memory_of_another() -> None:
    @T.prim_func
    def main(A: T.Tensor((4, 2, 8), "float32"), B: T.Tensor((8, 8), "float32")):
        with T.Kernel(1, threads=32):
            flat = T.Tensor((8, 8), "float32", A.data)
            for i in T.parallel(8):
                for j in T.parallel(8):
                    B[i, j] = flat[j, i]

    a, b = np.arange(64, dtype=np.float32).reshape(4, 2, 8), np.zeros((8, 8), np.float32)
    run(main, a, b)
    np.testing.assert_array_equal(b, a.reshape(8, 8).T)


def test_one_extent_and_a_dtype_in_brackets() -> None:
    n = T.dynamic("n")
    assert (T.Tensor[(n), "int32"].dtype, len(T.Tensor[(n), "int32"].shape)) == ("int32", 1)
    assert T.Tensor[4, 8].shape == (4, 8)


def test_asynchronous_statements_are_over_at_once() -> None:
    @T.prim_func
    def main(A: T.Tensor((64, 32), "float16"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 32), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            arrived = T.alloc_barrier(128)
            T.set_max_nreg(240, 1)
            T.tma_copy(A, a, barrier=arrived)
            T.barrier_arrive(arrived)
            T.barrier_wait(arrived, 0)
            T.wgmma_gemm(a, a, c, transpose_B=True, clear_accum=True)
            T.wait_wgmma(0)
            T.copy(c, C)

    a = np.random.default_rng(0).integers(-4, 4, (64, 32)).astype(np.float16)
    c = np.zeros((64, 64), np.float32)
    run(main, a, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ a.T.astype(np.float32))


def test_picture_of_a_layout(tmp_path: Path) -> None:
    from tilelang.layout import make_half_bank_swizzled_layout
    from tilelang.tools import plot_layout

    layout = make_half_bank_swizzled_layout(8, 32, 16)
    plot_layout(layout, save_directory=str(tmp_path), name="half")
    assert (tmp_path / "half.svg").read_text().startswith("<svg")


def test_generator_on_cuda_without_a_gpu() -> None:
    torch = pytest.importorskip("torch")
    from tilewright.compat.torch import without_gpu as torch_without_gpu

    if torch.cuda.is_available():
        pytest.skip("torch has a GPU")
    generator = torch_without_gpu._make_generator(torch)(device="cuda").manual_seed(1)
    assert torch.randperm(5, generator=generator).numel() == 5


def test_plus_on_a_reducer_contributes() -> None:
    """`r[i] += x` in T.Parallel, as TileLang writes it, is `T.reducer_update(r[i], x)`."""

    @T.prim_func
    def main(A: T.Tensor((8, 64), "float16"), B: T.Tensor((8,), "float32")):
        with T.Kernel(1, threads=128):
            total = T.alloc_reducer(8, "float32", replication="all")
            T.clear(total)
            for i, j in T.Parallel(8, 64):
                total[i] += A[i, j] * A[i, j]
            T.finalize_reducer(total)
            T.copy(total, B)

    a = np.random.default_rng(0).integers(-4, 4, (8, 64)).astype(np.float16)
    b = np.zeros(8, np.float32)
    run(main, a, b)
    np.testing.assert_array_equal(b, (a.astype(np.float32) ** 2).sum(1))


def test_tuning_without_tensors() -> None:
    """The constants of `T.const` stand in for tensors: inputs are generated."""
    tuned = tilelang.autotune(configs=[{"factor": 2.0}, {"factor": 3.0}], warmup=1, rep=1)(scaled)
    kernel = tuned.compile(M=4, N=64)
    assert [p["shape"] for p in kernel.params] == [[4, 64], [4, 32]]


def test_eager_kernel_declares_tensors_in_its_signature() -> None:
    """Beside a tensor of the body, an output, and a number."""
    n = T.dynamic("n")

    @tilelang.jit
    def scaled_sum(A: T.Tensor((n, 8), "float32"), B, factor: float = 2.0):
        M = T.const("M")
        B: T.Tensor((M,), "float32")
        C = T.empty((n, 8), "float32")
        with T.Kernel(n, threads=32) as (bx,):
            for j in T.Parallel(8):
                C[bx, j] = A[bx, j] * factor + B[j % M]
        return C

    a, b = np.arange(24, dtype=np.float32).reshape(3, 8), np.ones(4, np.float32)
    np.testing.assert_array_equal(scaled_sum(a, b, factor=3.0), a * 3 + 1)
    np.testing.assert_array_equal(scaled_sum(a[:2].copy(), b), a[:2] * 2 + 1)
    with pytest.raises(tilelang.TilewrightError, match="'A': expected"):
        scaled_sum(np.zeros((3, 9), np.float32), b)


def test_eager_kernel_with_all_tensors_in_its_signature() -> None:
    @tilelang.jit
    def doubled(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")):
        with T.Kernel(1, threads=32):
            for j in T.Parallel(8):
                B[j] = A[j] * 2.0

    a, b = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    doubled(a, b)
    np.testing.assert_array_equal(b, a * 2)


def test_two_names_for_one_block_index_are_refused() -> None:
    with pytest.raises(tilelang.TilewrightError, match="2 names for 1 block index"):

        @T.prim_func
        def main(A: T.Tensor((8,), "float32")):
            with T.Kernel(1, threads=32) as (bx, by):
                A[bx] = 0.0


def test_dtype_of_several_elements_is_an_error_where_it_is_used() -> None:
    pairs = [T.float16, T.float32x2]  # a list of what a script may be asked for
    assert "float32x2" in repr(pairs[1])
    with pytest.raises(tilelang.TilewrightError, match="float32x2"):
        T.Tensor((8,), pairs[1])


def test_tensors_of_a_call_without_any(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are torch's where torch is loaded, as TileLang's are."""
    from types import SimpleNamespace

    from tilewright.arguments import uses_torch

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(Tensor=object))
    assert uses_torch([3, 1.5])
    assert not uses_torch([np.zeros(3)])
    monkeypatch.delitem(sys.modules, "torch")
    assert not uses_torch([3])


ENGINES = ["interp", "cpu", "vgpu:sm_80", "vgpu:sm_90a"]


@pytest.mark.parametrize("device", ENGINES)
def test_symbol_and_constants_by_their_classes(device: str) -> None:
    n = T.Var("n", "int32")
    assert isinstance(n, T.Var) and isinstance(n + 1, T.PrimExpr)
    assert not isinstance(64, T.Var) and isinstance(64, T.IntImm) and isinstance(0.5, T.FloatImm)

    @T.prim_func
    def main(A: T.Tensor((n,), "float16"), B: T.Tensor((n,), "float16")):
        with T.Kernel(T.ceildiv(n, 32), threads=32) as bx:
            for i in T.Parallel(32):
                assert isinstance(A[bx * 32 + i], T.BufferLoad)
                B[bx * 32 + i] = A[bx * 32 + i] * T.FloatImm("float16", 0.5) + T.IntImm("int8", 3)

    a, b = np.arange(40, dtype=np.float16), np.zeros(40, np.float16)
    tilelang.compile(main, device=device)(a, b)
    np.testing.assert_array_equal(b, a * np.float16(0.5) + np.float16(3))


@pytest.mark.parametrize("device", ENGINES)
def test_prim_func_that_declares_its_parameters_in_its_body(device: str) -> None:
    @T.prim_func
    def main(factor: T.float32, A):
        A: T.Tensor[(64,), T.float32]
        B = T.empty((64,), T.float32)
        with T.Kernel(1, threads=64):
            for i in T.Parallel(64):
                B[i] = A[i] * factor
        return B

    assert main.attrs["tilelang_out_idx"] == [-1]
    a = np.arange(64, dtype=np.float32)
    kernel = tilelang.compile(main, device=device)
    assert kernel.execution_backend == "tvm_ffi"  # programs ask; there is one way to call
    np.testing.assert_array_equal(kernel(3.0, a), a * 3)


def test_parameters_are_declared_in_the_order_of_the_signature() -> None:
    with pytest.raises(tilelang.TilewrightError, match="in another order than its signature: B, A"):

        @T.prim_func
        def main(A, B):
            B: T.Tensor((8,), "float32")
            A: T.Tensor((8,), "float32")
            with T.Kernel(1, threads=32):
                T.copy(A, B)


def test_modules_of_the_language_stand_for_it() -> None:
    """`T.builtin.sync_threads()`, as older programs write it."""
    from tilelang.language.builtin import sync_threads

    assert T.builtin.sync_threads is sync_threads is T.sync_threads
    assert importlib.import_module("tilelang.language.tir").exp2 is T.exp2
    with pytest.raises(tilelang.TilewrightError, match=r"has no 'T\.sync_thread'"):
        T.builtin.sync_thread


def test_symbols_of_early_programs() -> None:
    n = tilelang.tvm.te.var("n")

    @T.prim_func
    def main(A: T.Buffer((n,), "float32"), B: T.Buffer((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 32), threads=32) as bx:
            for i in T.Parallel(32):
                B[bx * 32 + i] = A[bx * 32 + i] + 1

    a, b = np.ones(50, np.float32), np.zeros(50, np.float32)
    tilelang.compile(main)(a, b)
    np.testing.assert_array_equal(b, a + 1)


@pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80", "vgpu:sm_90a"])
def test_barriers_by_number_and_the_second_gemm(device: str) -> None:
    """A producer and a consumer as programs of earlier versions write them."""

    @T.prim_func
    def main(
        A: T.Tensor((64, 128), "float16"),
        B: T.Tensor((128, 64), "float16"),
        C: T.Tensor((64, 64), "float32"),
    ):
        with T.Kernel(1, threads=256):
            a = T.alloc_shared((2, 64, 32), "float16")
            b = T.alloc_shared((2, 32, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.create_list_of_mbarrier([128, 128] * 2)
            with T.ws(0):
                T.clear(c)
            for k in range(T.ceildiv(128, 32)):
                with T.ws(1):
                    T.mbarrier_wait_parity(mbarrier=k % 2 + 2, parity=((k // 2) % 2) ^ 1)
                    T.copy(A[0:64, k * 32 : (k + 1) * 32], a[k % 2, :, :])
                    T.copy(B[k * 32 : (k + 1) * 32, 0:64], b[k % 2, :, :])
                    T.mbarrier_arrive(mbarrier=k % 2)
                with T.ws(0):
                    T.mbarrier_wait_parity(T.get_mbarrier(k % 2), parity=(k // 2) % 2)
                    T.gemm_v2(a[k % 2, :, :], b[k % 2, :, :], c, wg_wait=-1)
                    T.wait_wgmma(0)
                    T.mbarrier_arrive(mbarrier=k % 2 + 2)
            with T.ws(0):
                T.copy(c, C)

    rng = np.random.default_rng(1)
    a, b = rng.integers(-3, 4, (64, 128)), rng.integers(-3, 4, (128, 64))
    c = np.zeros((64, 64), np.float32)
    kernel = tilelang.compile(main, device=device)
    kernel(a.astype(np.float16), b.astype(np.float16), c)
    assert kernel.findings == []
    np.testing.assert_array_equal(c, a @ b)


def test_barrier_by_a_number_without_a_list_is_refused() -> None:
    with pytest.raises(tilelang.TilewrightError, match=r"needs a barrier of T\.alloc_barrier"):

        @T.prim_func
        def main():
            with T.Kernel(1, threads=32):
                T.mbarrier_arrive(0)


def test_modules_and_options_of_earlier_versions() -> None:
    from tilelang.intrinsics import get_swizzle_layout
    from tilelang.intrinsics.mma_macro_generator import TensorCoreIntrinEmitter
    from tilelang.utils.tensor import map_torch_type

    tilelang.cache.clear_cache()
    assert TensorCoreIntrinEmitter is T.TensorCoreIntrinEmitter
    layout = T.Layout((8, 32), lambda i, j: get_swizzle_layout(i, j, 32, "float16"))
    assert layout.map_forward_index([5, 9]) == [5, 1] and layout.core.is_injective()[0] == "yes"
    assert map_torch_type("float8_e4m3") is T.dtype("float8_e4m3fn").as_torch()
    configs = {tilelang.PassConfigKey.TL_DISABLE_DYNAMIC_TAIL_SPLIT: True,
               "tl.dynamic_alignment": 8, "tir.disable_vectorize": True}  # fmt: skip
    assert tilelang.jit(lambda: None, pass_configs=configs) is not None


def test_order_of_groups_of_statements_is_a_hint() -> None:
    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=64):
            x = T.alloc_shared((16, 64), "float32")
            y = T.alloc_shared((16, 64), "float32")
            for k in T.Pipelined(
                4, num_stages=2, order=[-1, 0], stage=[-1, 0], group=[[0], [1, 2]]
            ):
                T.copy(A[k * 16, 0], x)
                for i, j in T.Parallel(16, 64):
                    y[i, j] = x[i, j] + 1
                T.copy(y, B[k * 16, 0])

    a, b = np.ones((64, 64), np.float32), np.zeros((64, 64), np.float32)
    tilelang.compile(main)(a, b)
    np.testing.assert_array_equal(b, a + 1)


def test_symbol_in_brackets() -> None:
    n = T.dyn["n"]

    @T.prim_func
    def main(A: T.Tensor((n, T.dyn["m", "int64"]), "float32")):
        with T.Kernel(n, threads=32) as bx:
            A[bx, 0] = 1.0

    a = np.zeros((3, 2), np.float32)
    tilelang.compile(main)(a)
    np.testing.assert_array_equal(a, [[1, 0]] * 3)


def test_jitted_prim_func_is_a_kernel() -> None:
    """As programs of early versions have it."""

    @tilelang.jit(out_idx=-1)
    @T.prim_func
    def twice(A: T.Tensor((40,), "float32"), B: T.Tensor((40,), "float32")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(40):
                B[i] = A[i] * 2

    np.testing.assert_array_equal(twice(np.ones(40, np.float32)), np.full(40, 2.0))


def test_program_of_an_artifact_is_printed() -> None:
    artifact = tilelang.lower(scaled.get_tir(M=2, N=4))
    assert "tile.kernel" in artifact.device_mod.script() == artifact.host_mod.script()


def test_keyword_of_an_eager_call_that_nothing_takes() -> None:
    """TileLang ignores it; a slip is an error."""
    a = np.ones((2, 4), np.float32)
    with pytest.warns(UserWarning, match="'n_splits' is neither a parameter nor a constant"):
        np.testing.assert_array_equal(scaled(a, n_splits=4), np.full((2, 2), 2.0))
    np.testing.assert_array_equal(scaled(a, N=4), np.full((2, 2), 2.0))
    with pytest.raises(tilelang.TilewrightError, match="did you mean 'factor'"):
        scaled(a, facter=3.0)
    with pytest.raises(tilelang.TilewrightError, match="expected shape"):
        scaled(a, N=8)


QUANTIZED = np.array([0x1F, 0xE2, 0x80, 0x7B], np.uint8)
NIBBLES = np.stack([QUANTIZED & 15, QUANTIZED >> 4], axis=1).reshape(-1).astype(np.int32)


def _signed_bits(nibbles: np.ndarray) -> np.ndarray:
    return (nibbles ^ 8) - 8


def _powers(nibbles: np.ndarray) -> np.ndarray:
    magnitude = np.where(nibbles & 7, 2.0 ** ((nibbles & 7) - 7.0), 0.0)
    return np.where((nibbles >> 3 == 1) & (nibbles & 7 > 0), -magnitude, magnitude)


@pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80"])
@pytest.mark.parametrize(
    ("name", "dtype", "expected"),
    [
        ("_tir_packed_to_unsigned_convert", "float16", NIBBLES),
        ("_tir_packed_to_signed_convert", "float16", NIBBLES - 8),
        ("_tir_packed_int_to_int_convert", "int8", _signed_bits(NIBBLES)),
        ("_tir_packed_to_fp4_to_f16", "float16", _powers(NIBBLES)),
    ],
)
def test_packed_numbers_are_converted(name: str, dtype: str, expected: Any, device: str) -> None:
    convert = getattr(importlib.import_module("tilelang.quantize"), name)("uint", 8)

    @T.prim_func
    def main(A: T.Tensor((4,), "uint8"), B: T.Tensor((8,), dtype)):
        with T.Kernel(1, threads=32):
            packed = T.alloc_shared((4,), "uint8")
            T.copy(A, packed)
            for i in T.Parallel(8):
                B[i] = convert(4, packed[i // 2], i % 2, dtype=dtype)

    b = np.zeros(8, dtype)
    tilelang.compile(main, device=device)(QUANTIZED, b)
    np.testing.assert_array_equal(b, expected)


@pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80"])
def test_patterns_of_small_floats_are_converted(device: str) -> None:
    import ml_dtypes
    from tilelang.quantize import _tir_u8_to_f4_to_bf16, _tir_u8_to_f8_e4m3_to_f16

    patterns = np.array([0x08, 0x38, 0x7E, 0x88, 0xC0, 0x10, 0xFE, 0x55], np.uint8)

    @T.prim_func
    def main(
        A: T.Tensor((8,), "uint8"),
        B: T.Tensor((8,), "float16"),
        C: T.Tensor((8,), "bfloat16"),
    ):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(8):
                B[i] = _tir_u8_to_f8_e4m3_to_f16(8, A[i], dtype="float16")
                C[i] = _tir_u8_to_f4_to_bf16(4, A[i], 1, T.uint8(3), dtype="bfloat16")

    b, c = np.zeros(8, np.float16), np.zeros(8, ml_dtypes.bfloat16)
    tilelang.compile(main, device=device)(patterns, b, c)
    np.testing.assert_array_equal(b, patterns.view(ml_dtypes.float8_e4m3fn).astype(np.float16))
    high = patterns >> 4
    exact = (1 + (high & 1) / 2) * 2.0 ** ((high >> 1 & 3).astype(int) - 1 + 3)
    np.testing.assert_array_equal(c.astype(np.float64), np.where(high >> 3, -exact, exact))
