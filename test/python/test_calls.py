"""Compiling and calling kernels: jit in both forms, arguments, outputs."""

from __future__ import annotations

import re
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T


@tilewright.jit(out_idx=[-1])
def scale(n, factor, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((n,), dtype), B: T.Tensor((n,), dtype)):
        with T.Kernel(T.ceildiv(n, 32)) as bx:
            for i in T.Parallel(32):
                B[bx * 32 + i] = A[bx * 32 + i] * factor

    return main


def test_lazy_kernel_returns_its_output() -> None:
    a = np.arange(50, dtype=np.float32)
    result = scale(50, 3)(a)
    assert isinstance(result, np.ndarray)
    np.testing.assert_array_equal(result, a * 3)


def test_kernels_are_cached_by_their_arguments() -> None:
    assert scale(50, 3) is scale(50, 3)
    assert scale(50, 3) is not scale(50, 4)
    assert scale(50, 3) is not scale(50, 3.0)
    assert scale(50, factor=3) is scale(50, factor=3)
    assert scale.compile(50, 3) is scale(50, 3)
    assert scale.get_tir(50, 3) is scale(50, 3).prim_func


def test_masked_arrays_are_refused() -> None:
    array = np.ma.masked_less(np.arange(8, dtype=np.float32), 4)
    with pytest.raises(tilewright.TilewrightError, match="does not see the array's mask"):
        scale(8, 2)(array)


def test_ml_dtypes_arrays() -> None:
    a = np.arange(32).astype(ml_dtypes.bfloat16)
    result = scale(32, 2, T.bfloat16)(a)
    assert result.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(result, a * 2)


def test_several_outputs_and_symbols() -> None:
    n = T.dynamic("n")

    @tilewright.jit(out_idx=[1, 2])
    def make():
        @T.prim_func
        def main(
            A: T.Tensor((n,), "int32"),
            B: T.Tensor((n,), "int32"),
            C: T.Tensor((n + 1, 2), "int32"),
        ):
            with T.Kernel(1):
                for i in T.serial(n):
                    B[i] = A[i] + 1
                for i, j in T.grid(n + 1, 2):
                    C[i, j] = i + j

        return main

    for size in (3, 0, 7):
        b, c = make()(np.arange(size, dtype=np.int32))
        assert b.tolist() == list(range(1, size + 1))
        assert c.shape == (size + 1, 2)
        assert c.tolist() == [[i, i + 1] for i in range(size + 1)]


def test_scalar_parameters_and_keywords() -> None:
    @T.prim_func
    def main(A: T.Tensor((2,), "float32"), n: T.int32, x: T.float32):
        with T.Kernel(1):
            A[0] = x
            A[1] = n

    kernel = tilewright.compile(main)
    a = np.zeros(2, np.float32)
    kernel(a, 3, 1.5)
    assert a.tolist() == [1.5, 3.0]
    kernel(a, x=np.float32(2.5), n=np.int64(4))
    assert a.tolist() == [2.5, 4.0]


@tilewright.jit
def add(A, B, block: int = 16):
    M, N = T.const("M, N")
    A: T.Tensor[[M, N], T.float32]
    B: T.Tensor[[M, N], T.float32]
    assert N % block == 0, "block must divide N"
    C = T.empty((M, N), T.float32)
    with T.Kernel(T.ceildiv(N, block), M) as (bx, by):
        for i in T.Parallel(block):
            C[by, bx * block + i] = A[by, bx * block + i] + B[by, bx * block + i]
    return C


def test_eager_kernel_runs_at_once() -> None:
    assert add.mode == "eager"
    for shape in ((3, 32), (1, 64)):
        a = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        np.testing.assert_array_equal(add(a, a), a + a)
    np.testing.assert_array_equal(add(a, a, block=32), a + a)
    with pytest.raises(AssertionError, match="block must divide N"):
        add(a, a, block=48)


def test_eager_kernel_may_declare_its_tensors_in_any_order() -> None:
    @tilewright.jit
    def subtract(A, scale, B):
        N = T.const("N")
        B: T.Tensor[[N], T.float32]
        A: T.Tensor[[N], T.float32]
        C = T.empty((N,), T.float32)
        with T.Kernel(1):
            for i in T.serial(N):
                C[i] = A[i] - B[i] * scale
        return C

    for size in (4, 5, 4):
        a, b = np.arange(size, dtype=np.float32), np.ones(size, np.float32)
        for scale in (1, 1.0, 2, True, np.float32(3), np.float32(4)):
            np.testing.assert_array_equal(subtract(a, scale, b), a - b * scale)
            np.testing.assert_array_equal(subtract(B=b, A=a, scale=scale), a - b * scale)


def test_eager_kernel_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    @tilewright.jit
    def copy(A):
        N = T.const("N")
        A: T.Tensor[[N], T.float32]
        B = T.empty((N,), T.float32)
        with T.Kernel(1):
            for i in T.serial(N):
                B[i] = A[i]
        return B

    a = np.ones(4, np.float32)
    copy(a)
    monkeypatch.setenv("TILEWRIGHT_DEVICE", "interp")
    copy(a)
    assert {kernel.placement.device for kernel in copy._kernels.values()} == {"cpu", "interp"}
    monkeypatch.setenv("TILEWRIGHT_DEVICE", "abacus")
    with pytest.raises(tilewright.TilewrightError, match="device 'abacus' does not exist"):
        copy(a)


def test_eager_kernel_checks_shapes_against_each_other() -> None:
    with pytest.raises(tilewright.TilewrightError, match=r"extent 1 is 'N' = 32 .* got 64"):
        add(np.zeros((2, 32), np.float32), np.zeros((2, 64), np.float32))


def test_eager_kernel_compiles_without_tensors() -> None:
    kernel = add.compile(M=2, N=32)
    a = np.ones((2, 32), np.float32)
    np.testing.assert_array_equal(kernel(a, a), a + a)


def test_kernel_describes_itself() -> None:
    kernel = scale(50, 3)
    assert [p["name"] for p in kernel.params] == ["A", "B"]
    assert "tile.kernel" in kernel.ir()
    assert kernel.get_kernel_source() == kernel.ir("tile")
    assert kernel.remarks == []
    assert kernel.placement.device == "cpu"
    with pytest.raises(tilewright.TilewrightError, match="no stage 'soup'; the stages are tile, "):
        kernel.ir("soup")


def test_arrays_are_not_copied() -> None:
    @T.prim_func
    def main(A: T.Tensor((4, 4), "int32")):
        with T.Kernel(1):
            A[1, 2] = 5

    whole = np.zeros((8, 4), np.int32)
    tilewright.compile(main)(whole[2:6])
    assert whole[3, 2] == 5
    assert whole.sum() == 5


class FakeTensor:
    """Has what a torch CPU tensor has, under torch's module name."""

    def __init__(self, array: np.ndarray, device: str = "cpu") -> None:
        self.array = array
        self.shape = array.shape
        self.ndim = array.ndim
        self.device = type("device", (), {"type": device, "__str__": lambda self: "cuda:0"})()
        self.dtype = type("dtype", (), {"__repr__": lambda self: f"torch.{array.dtype}"})()
        type(self.dtype).__module__ = "torch"
        self.layout, self.is_nested = "torch.strided", False

    def data_ptr(self) -> int:
        return self.array.__array_interface__["data"][0]

    def stride(self) -> tuple[int, ...]:
        return tuple(s // self.array.itemsize for s in self.array.strides)


FakeTensor.__module__ = "torch"


def test_torch_tensors_by_their_address() -> None:
    @T.prim_func
    def main(A: T.Tensor((4,), "float16")):
        with T.Kernel(1):
            A[1] = 5

    array = np.zeros(4, np.float16)
    tilewright.compile(main)(FakeTensor(array))
    assert array.tolist() == [0, 5, 0, 0]
    with pytest.raises(tilewright.TilewrightError, match=r"'A': the tensor is on cuda:0"):
        tilewright.compile(main)(FakeTensor(array, "cuda"))


@pytest.mark.parametrize("device", ["interp", "vgpu:sm_80"])
def test_findings_are_errors_unless_the_kernel_is_told_otherwise(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((5,), "int32")):
        with T.Kernel(1):
            s = T.alloc_shared((4,), "int32")
            s[0] = 1
            T.copy(s, A[0:4])
            A[4] = 7

    kernel = tilewright.compile(main, device=device)
    a = np.zeros(5, np.int32)
    with pytest.raises(tilewright.findings.FindingsError, match="uninitialized") as caught:
        kernel(a)
    (finding,) = caught.value.findings
    assert finding == kernel.findings[0]
    assert (finding["kind"], finding["buffer"]) == ("uninitialized", "A")
    assert finding["file"] == __file__
    assert a[4] == 7, "the results are written"
    kernel.options["strict"] = False
    with pytest.warns(tilewright.kernel.TilewrightWarning, match="uninitialized"):
        kernel(a)
    assert kernel.findings


def test_a_finding_is_one_for_each_line_and_cause() -> None:
    """Unrolled copies and threads are merged, with a count; PTX words are one level down."""

    @T.prim_func
    def main(A: T.Tensor((64,), "int32"), B: T.Tensor((4,), "int32")):
        with T.Kernel(4, threads=32) as bx:
            if B[bx] == 0:
                for k in T.unroll(4):
                    for i in T.Parallel(16):
                        A[k * 16 + i] = bx  # all blocks write all elements

    kernel = tilewright.compile(main, device="vgpu:sm_80")
    with pytest.raises(tilewright.findings.FindingsError) as caught:
        kernel(np.zeros(64, np.int32), np.zeros(4, np.int32))
    (finding,) = caught.value.findings
    assert finding["count"] > 4
    headline, *rest = str(caught.value).splitlines()
    assert re.search(
        r"test_calls.py:\d+:\d+: error: 'A'\[\d+\] is written by thread \d+ of block "
        r"\(\d, 0, 0\) and by thread \d+ of block \(\d, 0, 0\), "
        r"and nothing orders them \(\d+ times\) \[race\]",
        headline,
    )
    assert "ptx:" not in headline
    assert "A[k * 16 + i] = bx" in rest[0]
    assert any(line.startswith("note: 'A'+") and "ptx:" in line for line in rest)


def test_kernels_are_traced_in_many_threads() -> None:
    from concurrent.futures import ThreadPoolExecutor

    a = np.arange(40, dtype=np.float32)
    with ThreadPoolExecutor(4) as pool:
        kernels = list(pool.map(lambda factor: scale(40, factor), range(100, 120)))
    for factor, kernel in zip(range(100, 120), kernels, strict=True):
        np.testing.assert_array_equal(kernel(a), a * factor)


def test_unknown_device_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_DEVICE", "abacus")
    with pytest.raises(tilewright.TilewrightError, match="device 'abacus' does not exist"):
        scale(51, 3)


def test_import_is_light() -> None:
    code = "import sys, tilewright; print({'numpy', 'torch', 'rich'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((4, 1), "output 'C': its extent 'N - 8' is -4"),
        ((16, 0), "output 'D': its extent 'N // M' divides by 0"),
    ],
)
def test_extents_of_outputs_that_make_no_sense(sizes: tuple, message: str) -> None:
    """They were exceptions of numpy's, and of `//`."""
    n, m = T.dynamic("N"), T.dynamic("M")

    @T.prim_func
    def main(
        A: T.Tensor((n,), "float32"),
        B: T.Tensor((m,), "float32"),
        C: T.Tensor((n - 8,), "float32"),
        D: T.Tensor((n // m,), "float32"),
    ):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(32):
                C[i] = A[i]
                D[i] = B[i]

    kernel = tilewright.compile(main, out_idx=[2, 3])
    with pytest.raises(tilewright.TilewrightError, match=re.escape(message)):
        kernel(*(np.zeros(size, np.float32) for size in sizes))


@pytest.mark.parametrize("value", [np.float32(1), np.zeros((), np.float32), 1.0])
def test_a_number_is_no_tensor_although_an_output_takes_its_shape(value) -> None:
    n = T.dynamic("N")

    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(32):
                B[i] = A[i]

    with pytest.raises(tilewright.TilewrightError, match="'A': expected a tensor of float32"):
        tilewright.compile(main, out_idx=[1])(value)


def test_kernel_made_for_a_target() -> None:
    """`tilelang.JITKernel(func, target=...)`, as scripts write it."""

    @T.prim_func
    def main(A: T.Tensor((4,), "float32")):
        with T.Kernel(1, threads=32):
            A[0] = 3.0

    a = np.zeros(4, np.float32)
    kernel = tilewright.JITKernel(main, target="cpu")
    kernel(a)
    assert kernel.placement.device == "cpu"
    assert a[0] == 3


FAILING_TEST = """
import numpy as np
import tilewright
import tilewright.language as T

def helper(n):
    raise ValueError("mine")

@tilewright.jit
def factory(n):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32")):
        with T.Kernel(1):
            A[0] = helper(n)
    return main

def test_helper():
    factory(4)

@tilewright.jit
def right(n):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32")):
        with T.Kernel(1):
            A[0] = 1.0
    return main

def test_call():
    right(4)(np.zeros(5, np.float32))
"""


def test_pytest_shows_the_users_frames_only(tmp_path) -> None:
    (tmp_path / "test_it.py").write_text(FAILING_TEST)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert "2 failed" in done.stdout
    assert "ValueError: mine" in done.stdout
    assert "right(4)(np.zeros(5, np.float32))" in done.stdout
    for folder in ("tilewright/runtime", "tilewright/support", "tilewright/frontend"):
        assert folder not in done.stdout


def test_reprs_say_something() -> None:
    kernel = scale(40, 3)
    assert repr(kernel).startswith("<kernel 'main' on cpu: (A: float32[40], returns ")
    assert "grid " in repr(kernel) and " threads>" in repr(kernel)
    remark = tilewright.kernel.Remark("k.py", 7, "remark", "access", "A", "4 x ld", {})
    assert (str(remark), repr(remark)) == (
        "k.py:7: remark: 4 x ld",
        "<access k.py:7: remark: 4 x ld>",
    )


def test_a_condition_that_python_knows_hides_what_is_under_it() -> None:
    """`run_time and False` is False while tracing: its branch is not there, and a tensor that only
    this branch uses may be None. mamba's kernels choose their outputs so."""

    def make(writes: bool, always: bool = False):
        @T.prim_func
        def main(
            A: T.Tensor((8,), "int32"), B: T.Tensor((8,), "int32"), C: T.Tensor((8,), "int32")
        ):
            with T.Kernel(8, threads=32) as bx:
                if bx % 2 == 0 and writes:
                    C[bx] = A[bx]
                if bx % 2 == 0 or always:
                    B[bx] = A[bx]
                else:
                    B[bx] = -A[bx]

        return tilewright.compile(main, device="cpu")

    a, b, c = np.arange(8, dtype=np.int32), np.zeros(8, np.int32), np.zeros(8, np.int32)
    make(writes=False)(a, b, None)
    np.testing.assert_array_equal(b, np.where(a % 2, -a, a))
    make(writes=True, always=True)(a, b, c)
    np.testing.assert_array_equal(b, a)
    np.testing.assert_array_equal(c, np.where(a % 2, 0, a))


def test_a_macro_may_open_the_kernel_of_an_eager_function() -> None:
    """Its signature declares the tensors, and nothing in its body does: it is the kernel itself."""

    @T.macro
    def double(A, B):
        with T.Kernel(A.shape[0], threads=32) as bx:
            B[bx] = A[bx] * 2

    @tilewright.jit(device="cpu")
    def main(A: T.Tensor((8,), "int32"), B: T.Tensor((8,), "int32")):
        double(A, B)

    a, b = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    main(a, b)
    np.testing.assert_array_equal(b, 2 * a)


def test_python_prints_while_the_kernel_is_traced(capsys: pytest.CaptureFixture[str]) -> None:
    @T.prim_func
    def main(A: T.Tensor((8,), "int32")):
        with T.Kernel(8, threads=32) as bx:
            print("block", bx, 3)
            A[bx] = bx

    assert main is not None
    shown = capsys.readouterr().out
    assert shown.startswith("block <a run-time value of type index") and shown.endswith("> 3\n")
    assert "T.print prints it when the kernel runs" in shown
