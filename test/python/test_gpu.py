"""GPU code: what is compiled runs on the virtual GPU, what is not yet is refused with the line."""

from __future__ import annotations

import itertools
import re
import threading
import time
import types

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright import vgpu


def compile_copy(dtype: str, device: str = "vgpu:sm_80"):
    @T.prim_func
    def main(A: T.Tensor((32,), dtype), B: T.Tensor((32,), dtype)):
        with T.Kernel(1, threads=32):
            s = T.alloc_shared((32,), dtype)
            T.copy(A, s)
            T.copy(s, B)

    return tilewright.compile(main, device=device)


@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "float16", "int8", "uint8", "int16", "int32", "int64", "bool"]
)
def test_copy_of_each_dtype(dtype: str) -> None:
    a = (np.arange(32) % 2).astype(dtype)
    b = np.zeros_like(a)
    compile_copy(dtype)(a, b)
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("device", ["vgpu:sm_80", "cpu"])
def test_a_kernel_that_does_nothing_has_ptx(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((8,), "float32")):
        with T.Kernel(1, threads=32):
            pass

    kernel = tilewright.compile(main, device=device)
    kernel(np.zeros(8, np.float32))
    assert ".target sm_80" in kernel.ptx


def test_too_much_shared_memory_names_the_tiles() -> None:
    @T.prim_func
    def main(A: T.Tensor((256, 256), "float32")):
        with T.Kernel(1, threads=128):
            big = T.alloc_shared((256, 256), "float32")
            T.copy(A, big)
            T.copy(big, A)

    with pytest.raises(tilewright.TilewrightError) as caught:
        tilewright.compile(main, device="vgpu:sm_80")
    assert "kernel needs 262144 bytes of shared memory, sm_80 allows 166912" in str(caught.value)
    assert "'big' takes 262144 bytes" in str(caught.value)


def test_remarks_say_why_a_gemm_leaves_the_tensor_cores() -> None:
    @T.prim_func
    def main(
        A: T.Tensor((16, 16), "float32"),
        B: T.Tensor((16, 16), "float32"),
        C: T.Tensor((16, 16), "float32"),
    ):
        with T.Kernel(1, threads=32):
            a = T.alloc_shared((16, 16), "float32")
            b = T.alloc_shared((16, 16), "float32")
            c = T.alloc_fragment((16, 16), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.clear(c)
            T.gemm(a, b, c)
            T.copy(c, C)

    kernel = tilewright.compile(main, device="vgpu:sm_90")
    (remark,) = [r for r in kernel.remarks if "T.gemm" in r.message]
    assert "'T.gemm' leaves the tensor cores" in remark.message
    assert "no instruction for float32 into float32" in remark.message
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, (16, 16)).astype(np.float32) for _ in range(2))
    c = np.zeros((16, 16), np.float32)
    kernel(a, b, c)
    np.testing.assert_array_equal(c, a @ b)


def test_vgpu_launch_runs_the_ptx_of_a_kernel() -> None:
    from tilewright import vgpu

    kernel = compile_copy("int32")
    a, b = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    result = vgpu.launch(kernel.ptx, "main_kernel", 1, 32, [a, b], shared_bytes=128)
    np.testing.assert_array_equal(a, b)
    assert not result.findings
    assert result.counters["warp_instructions"] > 0


def test_vgpu_finds_a_removed_barrier() -> None:
    from tilewright import vgpu

    @T.prim_func
    def main(A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((64,), "int32")
            for i in T.Parallel(64):
                s[i] = A[i]
            for i in T.Parallel(64):
                B[i] = s[63 - i]

    ptx = tilewright.compile(main, device="vgpu:sm_80").ptx
    a, b = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    assert not vgpu.launch(ptx, "main_kernel", 1, 64, [a, b], shared_bytes=256).findings
    broken = "\n".join(line for line in ptx.splitlines() if "bar.sync" not in line)
    assert broken != ptx
    findings = vgpu.launch(broken, "main_kernel", 1, 64, [a, b], shared_bytes=256).findings
    assert "race" in {finding.kind for finding in findings}


def test_remarks_say_to_programs_what_they_say_to_readers() -> None:
    @T.prim_func
    def main(A: T.Tensor((16, 64), "float32"), B: T.Tensor((16, 64), "float32"),
             C: T.Tensor((16, 16), "float32")):  # fmt: skip
        with T.Kernel(1, threads=32):
            a = T.alloc_shared((16, 64), "float32")
            sums = T.alloc_fragment((16, 16), "float32")
            T.copy(A, a)
            T.gemm(a, a, sums, transpose_B=True, clear_accum=True)
            for i, j in T.Parallel(16, 64):
                B[i, j] = a[(i + j) % 16, j]
            T.copy(sums, C)

    kernel = tilewright.compile(main, device="vgpu:sm_80")
    assert all(remark.data["arch"] == "sm_80" for remark in kernel.remarks)
    of_kind: dict[str, list] = {}
    for remark in kernel.remarks:
        of_kind.setdefault(remark.kind, []).append(remark)
    assert sorted(of_kind) == ["access", "gemm"]
    [product] = of_kind["gemm"]
    assert product.buffer == ""
    assert product.data["unit"] == "fma"
    assert product.message.endswith(product.data["reason"])
    assert {remark.buffer for remark in of_kind["access"]} == {"A", "B", "C", "a"}
    read = next(r for r in of_kind["access"] if r.buffer == "A")
    assert (read.data["width"], read.data["instruction"]) == (4, "ld.global.v4.f32")
    assert read.message.startswith("A: 4 x ld.global.v4.f32")
    assert read.line > main.location.line
    [scattered] = [r for r in of_kind["access"] if r.buffer == "a" and "refusal" in r.data]
    assert "lie 64 elements apart in a's layout" in scattered.data["refusal"]
    assert scattered.data["refusal"] in scattered.message


def test_a_copy_by_cp_async_says_so_in_its_remark() -> None:
    """It kept the ld.global and st.shared that were planned before it was pipelined."""

    @T.prim_func
    def main(A: T.Tensor((256, 64), "float16"), B: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            s = T.alloc_shared((64, 64), "float16")
            f = T.alloc_fragment((64, 64), "float32")
            T.clear(f)
            for k in T.Pipelined(4, num_stages=2):
                T.copy(A[k * 64, 0], s)
                for i, j in T.Parallel(64, 64):
                    f[i, j] += s[i, j]
            T.copy(f, B)

    kernel = tilewright.compile(main, device="vgpu:sm_80")
    assert "cp.async.cg" in kernel.ptx
    instructions = {(r.buffer, r.data["instruction"]) for r in kernel.remarks if r.kind == "access"}
    name = "cp.async.cg.shared.global"
    assert {("A", name), ("s", name)} <= instructions
    assert not {i for b, i in instructions if b == "A" and i.startswith("ld.global")}
    assert not {i for b, i in instructions if b == "s" and i.startswith("st.shared")}
    messages = [r.message for r in kernel.remarks if r.buffer == "s"]
    ahead = f"s: 8 x {name} of 16 bytes, issued 1 iteration ahead into 2 versions"
    assert ahead in messages


ENDLESS = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x) {
  .reg .b64 %r<2>;
  .reg .pred %p<1>;
  mov.u64 %r0, 0;
L:
  add.s64 %r0, %r0, 1;
  setp.ne.u64 %p0, %r0, 0;
  @%p0 bra L;
  ret;
}"""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"grid": -1}, "'grid': expected a number from 1 to 2147483647, got -1"),
        ({"grid": (1, 1, 1, 1)}, "'grid': expected 1 to 3 extents, got (1, 1, 1, 1)"),
        ({"grid": ()}, "'grid': expected 1 to 3 extents, got ()"),
        ({"grid": itertools.repeat(1)}, "'grid': expected 1 to 3 extents, got repeat(1)"),
        ({"grid": b"\x01"}, "'grid': expected 1 to 3 extents, got b'\\x01'"),
        ({"block": True}, "'block': expected an integer, got bool True"),
        ({"grid": 1.5}, "'grid': expected an integer, got float 1.5"),
        ({"block": 2**40}, "'block': expected a number from 1 to 2147483647"),
        ({"shared_bytes": -1}, "'shared_bytes': expected a number"),
        ({"threads": -1}, "'threads': expected a number from 0 to 1024"),
        ({"step_limit": "many"}, "'step_limit': expected an integer, got str 'many'"),
        ({"time_limit": -1}, "'time_limit': expected seconds"),
        ({"time_limit": float("nan")}, "'time_limit': expected seconds"),
        ({"time_limit": 1j}, "'time_limit': expected seconds"),
        ({"entry": None}, "'entry': expected a text, got NoneType None"),
        ({"entry": "\udcff"}, "'entry' is no text"),
        ({"arch": 80}, "'arch': expected a text, got int 80"),
        ({"checks": ["race"]}, "'checks': expected a text, got list ['race']"),
        ({"mode": 1}, "'mode': expected a text, got int 1"),
        ({"cluster": 0}, "'cluster': expected a number from 1"),
        ({"args": 3}, "'args': expected a list of arguments, got 3"),
    ],
)
def test_bad_numbers_of_a_launch_are_errors_in_words(options: dict, words: str) -> None:
    arguments = {"entry": "k", "grid": 1, "block": 32, "args": [np.zeros(4)], **options}
    with pytest.raises(tilewright.TilewrightError, match=re.escape(words)):
        vgpu.launch(ENDLESS, **arguments)


SQUARE = np.zeros((4, 4), np.float32)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.array([None]), "argument 0: expected an array of numbers"),
        (vgpu.TensorMap([[1.0]], (1, 1)), "argument 0: a tensor map needs a numpy array, got list"),
        (vgpu.TensorMap(SQUARE, (4, 2**32 + 4)), "'argument 0.box': expected a number from 0"),
        (vgpu.TensorMap(SQUARE, (4, -4)), "'argument 0.box': expected a number from 0"),
        (vgpu.TensorMap(SQUARE, (4, 4.0)), "'argument 0.box': expected an integer, got float 4.0"),
        (vgpu.TensorMap(SQUARE, 4), "'argument 0.box': expected a list of integers, got 4"),
        (vgpu.TensorMap(SQUARE, (4, 4), swizzle=128), "'argument 0.swizzle': expected a text"),
        (vgpu.TensorMap(SQUARE, (4, 4), corners=((0,),)), "expected two corners, got 1"),
    ],
)
def test_bad_arguments_of_a_launch_are_errors_in_words(value: object, words: str) -> None:
    with pytest.raises(tilewright.TilewrightError, match=re.escape(words)):
        vgpu.launch(ENDLESS, "k", 1, 32, [value])


def test_an_error_quotes_half_of_a_character() -> None:
    """Python could not read the message: a token of PTX is one byte."""
    with pytest.raises(tilewright.TilewrightError, match="1: error: expected a directive"):
        vgpu.Module("\ufeff" + ENDLESS)


def test_an_array_is_not_resized_while_a_launch_of_ptx_runs() -> None:
    array = np.zeros(1 << 16)
    thread = threading.Thread(
        target=lambda: vgpu.launch(ENDLESS, "k", 1, 32, [array[8:]], time_limit=2)
    )
    thread.start()
    time.sleep(0.5)
    with pytest.raises(ValueError, match="cannot resize"):
        array.resize(1 << 20, refcheck=False)
    thread.join()


def test_the_address_of_an_array_is_what_numpy_knows() -> None:
    class Liar(np.ndarray):
        ctypes = types.SimpleNamespace(data=16)
        nbytes = 1 << 40

    store = "ld.param.u64 %r0, [x];\nst.global.u64 [%r0], 7;\nret;"
    ptx = ENDLESS.replace("mov.u64 %r0, 0;", store)
    array = np.zeros(4, np.uint64)
    assert not vgpu.launch(ptx, "k", 1, 1, [array.view(Liar)]).findings
    assert array[0] == 7


def test_a_time_limit_ends_a_launch() -> None:
    result = vgpu.launch(ENDLESS, "k", 1, 32, [np.zeros(4)], time_limit=np.float32(0.2))
    assert [finding.kind for finding in result.findings] == ["step_limit"]
    assert not result.complete


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_kernel_that_a_macro_opens(arch: str) -> None:
    """Its function has the lines of two callers, which MLIR looked for around the function."""

    @T.macro
    def inner(A, B):
        with T.Kernel(2, threads=32) as bx:
            tile = T.alloc_shared((32,), "float32")
            T.copy(A[bx * 32], tile)
            for i in T.Parallel(32):
                B[bx * 32 + i] = tile[31 - i]

    @T.macro
    def outer(A, B):
        inner(A, B)

    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        outer(A, B)

    a, b = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    kernel = tilewright.compile(main, device=f"vgpu:{arch}")
    kernel(a, b)
    np.testing.assert_array_equal(b, a.reshape(2, 32)[:, ::-1].ravel())
    assert ".loc" in kernel.ptx
