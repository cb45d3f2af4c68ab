"""Modules, classes and methods that programs use around their kernels, under TileLang's names."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
import tilelang
import tilelang.language as T
import tilewright


@tilelang.jit(out_idx=[-1])
def doubled(n: int, dtype: str = "float32"):
    @T.prim_func
    def main(A: T.Tensor((n, 4), dtype), B: T.Tensor((n, 4), dtype)):
        with T.Kernel(n, threads=32) as bx:
            for j in T.Parallel(4):
                B[bx, j] = A[bx, j] + A[bx, j]

    return main


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("tilelang", "jit compile lower env engine utils autotune PassConfigKey TensorSupplyType"),
        ("tilelang.jit", "JITImpl JITKernel jit compile"),
        ("tilelang.engine", "lower KernelParam register_cuda_postproc"),
        ("tilelang.engine.lower", "lower extrac_params"),
        ("tilelang.engine.param", "KernelParam CompiledArtifact"),
        ("tilelang.env", "env CacheState enable_cache"),
        ("tilelang.utils.target", "determine_target"),
        ("tilelang.backend.target", "determine_target auto_detect_target"),
        ("tilelang.utils.device", "get_current_device"),
        ("tilelang.contrib.nvcc", "get_target_compute_version parse_compute_version is_hopper"),
        ("tilelang.profiler", "do_bench Profiler"),
        ("tilelang.profiler.bench", "do_bench suppress_stdout_stderr"),
        ("tilelang.autotuner.tuner", "AutoTuner"),
        ("tilelang.autotuner.param", "AutotuneResult CompileArgs ProfileArgs"),
        ("tilelang.layout.swizzle", "make_swizzled_layout"),
        ("tilelang.transform", "PassConfigKey PassContext Simplify"),
        ("tvm", "DataType IRModule TVMError tir tirx target transform runtime arith"),
        ("tvm.ir", "PrimExpr IRModule Range"),
        ("tvm.tir", "PrimExpr const"),
        ("tvm.tirx", "PrimExpr PrimFunc Buffer BufferLoad For Call IntImm const all any min"),
        ("tvm.tirx.stmt_functor", "post_order_visit ir_transform"),
        ("tvm.target", "Target"),
        ("tilelang.tvm", "tirx"),
        ("tilelang.rocm.intrinsics.mfma_layout", "anything"),
        ("tilelang.jit.adapter.cutedsl.checks", "check_cutedsl_available"),
        ("tvm_ffi", "get_global_func"),
    ],
)
def test_names_can_be_imported(module: str, names: str) -> None:
    found = importlib.import_module(module)
    assert [name for name in names.split() if getattr(found, name, None) is None] == []


def test_every_pass_config_of_tilelang_is_known() -> None:
    """Those that steer TileLang's lowerings are accepted by name and by text."""
    from tilewright.pass_config import normalize

    keys = tilelang.PassConfigKey
    for name in ("TL_DISABLE_OUT_OF_BOUND_WARNING", "TIR_DISABLE_VECTORIZE", "TL_DUMP_IR_DIR",
                 "TL_ENABLE_AUTO_SCHEDULE", "CUDA_KERNELS_OUTPUT_DIR"):  # fmt: skip
        assert hasattr(keys, name)
    assert len(keys) == 64
    assert normalize({"tir.disable_vectorize": True}) == {keys.TIR_DISABLE_VECTORIZE.value: True}


def test_module_and_decorator_of_one_name() -> None:
    """`tilelang.jit` stays the decorator after the module `tilelang.jit` is imported."""
    import tilelang.env
    import tilelang.jit
    from tilelang.jit import JITImpl, JITKernel

    assert isinstance(doubled, JITImpl)
    assert tilelang.jit is tilewright.jit
    assert not tilelang.env.is_light_import()
    assert isinstance(doubled(8), JITKernel)


def test_parameters_of_a_kernel() -> None:
    kernel = doubled(8)
    assert [(p.name, p.shape, p.dtype == "float32") for p in kernel.params] == [
        ("A", [8, 4], True),
        ("B", [8, 4], True),
    ]
    assert kernel.params[0]["kind"] == "tensor"
    assert not kernel.params[0].is_scalar()


def test_function_and_program_of_a_jitted_function() -> None:
    assert doubled.func.__name__ == "doubled"
    assert doubled.out_idx == [-1]
    function = doubled.get_tir(8)
    buffers = {p.name: function.buffer_map[p] for p in function.params}
    assert (buffers["A"].shape, str(buffers["A"].dtype)) == ([8, 4], "float32")
    assert function.attrs["global_symbol"] == "main"


def test_source_code_is_printed_or_written(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    kernel = doubled(8)
    kernel.print_source_code()
    assert "tile.kernel" in capsys.readouterr().out
    kernel.print_source_code(file=str(tmp_path / "a.txt"))
    kernel.export_sources(kernel_path=str(tmp_path / "b.txt"))
    assert (tmp_path / "a.txt").read_text() == (tmp_path / "b.txt").read_text()
    with pytest.raises(tilelang.TilewrightError, match="the sources are"):
        kernel.print_source_code("device")


def test_lowering_gives_the_code_of_a_gpu() -> None:
    artifact = tilelang.lower(doubled.get_tir(8), target="sm_90a")
    assert ".target sm_90a" in artifact.kernel_source
    assert [p.name for p in artifact.params] == ["A", "B"]


def test_target_of_a_with_statement() -> None:
    from tvm.target import Target

    with Target("cuda -arch=sm_90") as outer:
        assert Target.current() is outer
        with Target({"kind": "cuda", "arch": "sm_90a"}):
            kernel = tilelang.compile(doubled.get_tir(8), out_idx=-1, device="cpu")
            assert kernel.placement.target == "sm_90a"
    assert Target.current() is None
    assert (outer.kind.name, outer.arch, outer.attrs) == ("cuda", "sm_90", {"arch": "sm_90"})


def test_questions_about_targets() -> None:
    from tilelang.contrib import nvcc
    from tilelang.utils.target import determine_target

    target = determine_target(return_object=True)
    assert target.kind.name == "cuda"
    assert nvcc.parse_compute_version(nvcc.get_target_compute_version(target)) == (8, 0)
    assert nvcc.is_hopper(determine_target({"kind": "cuda", "arch": "sm_90a"}))
    with pytest.raises(tilelang.TilewrightError, match=r"like '9\.0', got 'sm_90'"):
        nvcc.parse_compute_version("sm_90")


def test_classes_of_tvm_know_values_of_kernels() -> None:
    from tvm.tirx import BufferLoad, IntImm, PrimExpr

    seen = []

    @T.prim_func
    def main(A: T.Tensor((8,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            seen.append((isinstance(bx, PrimExpr), isinstance(A[0], BufferLoad)))
            A[0] = A[1] + T.float32(IntImm("int32", 3))

    assert seen == [(True, True)]
    assert isinstance(3, IntImm) and not isinstance(3, PrimExpr)


def test_what_is_not_part_may_be_named_but_not_used() -> None:
    """In annotations, in `isinstance` and as a base class it does no harm."""
    from tvm.tirx import BufferStore, stmt_functor

    class Visitor(stmt_functor.StmtVisitor):
        def visit(self, store: BufferStore | None) -> None: ...

    assert not isinstance(3, BufferStore)
    with pytest.raises(tilelang.TilewrightError, match=r"StmtVisitor' is not part of Tilewright"):
        Visitor()


def test_importing_tilewright_loads_no_compatibility() -> None:
    code = "import sys, tilewright; print([m for m in sys.modules if 'compat' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_module_of_a_package_in_a_fresh_process() -> None:
    """`from package import module` asks for the name first, which must not be refused."""
    script = """
from tilewright.compat import imports
imports.install()
from tilelang.contrib import nvcc
from tilelang.carver import arch
print(nvcc.parse_compute_version(nvcc.get_target_compute_version()), arch.driver.get_num_sms() > 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "(8, 0) True\n"), done.stderr


def test_outputs_of_a_call_without_tensors_are_where_tensors_stand_for_those_of_a_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """TileOPs' alibi takes no tensor; its result has to be on "cuda", as all others are."""
    from tilewright.compat.torch import devices
    from tilewright.runtime import arguments

    monkeypatch.setattr(devices, "_active", [])
    assert arguments._device_of_outputs() == "cpu"
    monkeypatch.setattr(devices, "_active", [object()])
    assert arguments._device_of_outputs() == "cuda"


def test_other_gpus_are_asked_for_and_are_not_there() -> None:
    from tilelang.metal.target import check_metal4_availability, check_metal_availability
    from tilelang.rocm.target import check_hip_availability

    found = (check_hip_availability(), check_metal_availability(), check_metal4_availability())
    assert found == (False, False, False)


def test_names_of_all_dtypes() -> None:
    from tilelang.language.dtypes import _all_dtypes

    assert {"float16", "int4", "float8_e4m3fn", "float32x2", "bool"} <= set(_all_dtypes)


def test_inner_modules_of_the_language_can_be_imported() -> None:
    """In a process of its own: an import binds the module in the language."""
    program = """
from tilewright.compat import imports
imports.install()
from tilelang.language.common import copy
from tilelang.language.eager.ast import BaseBuilder, mutate
from tilelang.language.tir.ir import cast
try:
    mutate(1)
except ValueError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "'tilelang.language.eager.ast.mutate' is not part of Tilewright" in done.stdout
