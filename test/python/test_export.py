"""Exported libraries: the same bits and messages as Python's calls, and errors as codes."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import tilewright
from exported import Exported, Tensor, chain, gemm, integers, runtime, shift, softmax, tensor
from tilewright.ptxas import find_ptxas
from tilewright.support.errors import TilewrightError

ROOT = Path(__file__).resolve().parents[2]
OK, BAD_ARGUMENT, NO_CODE, NO_DRIVER, GPU_ERROR, RUN_ERROR, BAD_LIBRARY = range(7)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library `ops` with code for two processors and two architectures."""
    folder = tmp_path_factory.mktemp("exported")
    kernels = {
        "gemm": gemm(),
        "softmax": [softmax(8, 64), softmax(6, 96)],
        "shift": shift(),
        "chain": chain(),
    }
    tilewright.export_library(
        folder / "ops", kernels, archs=["sm_80", "sm_90a"], formats=["so", "o"]
    )
    return folder


@pytest.fixture(scope="module")
def ops(folder: Path) -> Exported:
    return Exported(folder / "ops.so")


def operands(m: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(m + n + k)
    a = rng.standard_normal((m, k)).astype(np.float16)
    b = rng.standard_normal((k, n)).astype(np.float16)
    return a, b, np.full((m, n), np.nan, np.float32)


# ---- Values ----


@pytest.mark.parametrize("shape", [(32, 64, 32), (33, 17, 5), (1, 1, 1)], ids=str)
def test_a_call_gives_the_values_of_pythons(ops: Exported, shape: tuple[int, int, int]) -> None:
    a, b, c = operands(*shape)
    expected = c.copy()
    gemm()(a, b, expected, 0.5)
    assert ops.call("gemm", a, b, c, ctypes.c_float(0.5)) == (OK, "")
    np.testing.assert_allclose(c, expected, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize(("cpu", "block"), [("", 32), ("avx2", 16)], ids=["native", "avx2"])
def test_code_of_this_machine_gives_the_bits_of_pythons(
    cpu: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with kernels of its own: Python keeps those that it has compiled."""
    monkeypatch.setenv("TILEWRIGHT_CPU", cpu)
    product, rows = gemm(block=block), softmax(block, 64)
    kernels = {"gemm": product, "softmax": rows}
    tilewright.export_library(tmp_path / "mine", kernels, cpus=["host"], formats=["so"])
    mine = Exported(tmp_path / "mine.so")
    a, b, c = operands(45, 77, 130)
    expected = c.copy()
    product(a, b, expected, 0.25)
    assert mine.call("gemm", a, b, c, ctypes.c_float(0.25)) == (OK, "")
    assert c.tobytes() == expected.tobytes()
    x = np.random.default_rng(0).standard_normal((block, 64)).astype(np.float32)
    y, expected = np.empty_like(x), np.empty_like(x)
    rows(x, expected)
    assert mine.call("softmax", x, y) == (OK, "")
    assert y.tobytes() == expected.tobytes()


def test_the_form_that_fits_runs(ops: Exported) -> None:
    for shape in ((8, 64), (6, 96)):
        x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
        y = np.empty_like(x)
        assert ops.call("softmax", x, y) == (OK, "")
        weights = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
        np.testing.assert_allclose(y, weights / weights.sum(-1, keepdims=True), rtol=1e-5)
    wrong = np.zeros((7, 64), np.float32)
    code, message = ops.call("softmax", wrong, wrong.copy())
    assert code == BAD_ARGUMENT
    assert message == (
        "parameter 'X': expected shape (8, 64), got (7, 64) (dimension 0 should be 8); or "
        "parameter 'X': expected shape (6, 96), got (7, 64) (dimension 0 should be 6)"
    )


def test_tensors_that_overlap_run_code_that_allows_it(ops: Exported) -> None:
    values = np.arange(65, dtype=np.float32)
    assert ops.call("shift", values[:64], values[1:], 0) == (OK, "")
    # Each iteration is independent: which of the old and new values it reads is not said, but each
    # element is one more than one of them.
    assert values[0] == 0
    plain = np.arange(64, dtype=np.float32)
    assert ops.call("shift", plain, plain, 0) == (OK, "")  # in place
    np.testing.assert_array_equal(plain, np.arange(64) + 1)


@pytest.mark.parametrize("size", [0, 1, 100])
def test_launches_workspaces_and_numbers(ops: Exported, size: int) -> None:
    a, b = np.arange(size, dtype=np.int32), np.full(size, -1, np.float32)
    numbers = (ctypes.c_float(0.5), ctypes.c_int64(-(2**40)), ctypes.c_bool(True))
    assert ops.call("chain", a, *numbers, b) == (OK, "")
    np.testing.assert_array_equal(b, a * 0.5 - 3)


def test_threads_call_at_once(ops: Exported) -> None:
    a, b, expected = operands(64, 64, 64)
    ops.call("gemm", a, b, expected, ctypes.c_float(0))
    wrong: list[str] = []

    def work() -> None:
        for _ in range(50):
            c = np.empty_like(expected)
            code, message = ops.call("gemm", a, b, c, ctypes.c_float(0))
            if code or c.tobytes() != expected.tobytes():
                wrong.append(message)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# ---- Bad input ----


def wrong_calls() -> dict[str, tuple]:
    """Arguments of gemm, and the message that Python has for them."""
    a, b, c = operands(32, 32, 32)
    s = ctypes.c_float(0)
    odd = np.zeros(a.nbytes + 1, np.uint8)[1:].view()
    misaligned = tensor(a)
    misaligned.data = odd.ctypes.data
    misaligned.odd = odd
    no_shape, no_data, far = tensor(a), tensor(a), tensor(a)
    no_shape.shape = ctypes.POINTER(ctypes.c_int64)()
    no_data.data = None
    far.device.type = 10  # ROCm
    lanes = tensor(a)
    lanes.dtype.lanes = 2
    negative = tensor(a)
    negative.shape = integers((-32, 32))
    of_a = "parameter 'A':"
    return {
        "dtype": ((a.astype(np.float32), b, c, s), f"{of_a} expected dtype float16, got float32"),
        "rank": (
            (a[0], b, c, s),
            f"{of_a} expected rank 2, shape (M, K), got rank 1, shape (32,)",
        ),
        "shape": (
            (a, b[:31], c, s),
            "parameter 'B': dimension 0: expected K = 32 (from 'A' dimension 1), got 31 in shape "
            "(31, 32)",
        ),
        "stride": (
            (a.T, b, c, s),
            f"{of_a} expected a contiguous (row-major) tensor, got strides (1, 32) for shape "
            "(32, 32); pass a contiguous copy",
        ),
        "null tensor": (
            (None, b, c, s),
            f"{of_a} the kernel uses it, expected a tensor, got None",
        ),
        "null data": ((no_data, b, c, s), f"{of_a} the tensor has no data"),
        "null shape": ((no_shape, b, c, s), "argument 0: the tensor has no shape"),
        "negative": (
            (negative, b, c, s),
            f"{of_a} a tensor has no extents below 0, got shape (-32, 32)",
        ),
        "misaligned": (
            (misaligned, b, c, s),
            f"{of_a} its data is not aligned to the 2 bytes of an element; pass a copy",
        ),
        "lanes": (
            (lanes, b, c, s),
            f"{of_a} expected dtype float16, got DLPack type 2 of 16 bits and 2 lanes",
        ),
        "device": (
            (far, b, c, s),
            "argument 0: the tensor is on a device of DLPack's kind 10, kernels run on the host "
            "and on CUDA's GPUs",
        ),
    }


@pytest.mark.parametrize("kind", wrong_calls())
def test_what_a_kernel_cannot_take_is_a_code_and_a_message(ops: Exported, kind: str) -> None:
    arguments, message = wrong_calls()[kind]
    assert ops.call("gemm", *arguments) == (BAD_ARGUMENT, message)


@pytest.mark.parametrize("kind", ["dtype", "rank", "shape", "stride"])
def test_messages_are_those_of_python(kind: str) -> None:
    (a, b, c, _), message = wrong_calls()[kind]
    with pytest.raises(TilewrightError) as raised:
        gemm()(a, b, c, 0.0)
    assert message in str(raised.value)


def test_a_failed_assertion_has_its_line(ops: Exported) -> None:
    values = np.zeros(64, np.float32)
    code, message = ops.call("shift", values, values.copy(), 13)
    assert (code, "thirteen" in message) == (RUN_ERROR, True)
    assert ops.call("shift", values, values.copy(), 12) == (OK, "")  # and the next call runs


def test_an_error_need_not_be_taken(ops: Exported) -> None:
    function = ops.handle.shift
    assert function(None, None, 0, None, None) == BAD_ARGUMENT


def test_a_library_of_another_version_is_refused(folder: Path) -> None:
    ops = Exported(folder / "ops.so")
    library = ops.library("ops")
    library.abi, kept = 99, library.abi
    try:
        code, message = ops.call("shift", None, None, 0)
    finally:
        library.abi = kept
    assert code == BAD_LIBRARY
    assert message == (
        "the library was made for version 99 of tilewright/runtime.h, libtilewright_rt has version "
        f"{kept}; export it again, or link the other runtime"
    )


def test_a_damaged_library_is_refused(folder: Path) -> None:
    rt = runtime()
    library = Exported(folder / "ops.so").library("ops")
    copy = type(library).from_buffer_copy(library)
    image = (ctypes.c_ubyte * copy.image_bytes).from_buffer_copy(
        ctypes.string_at(copy.image, copy.image_bytes)
    )
    copy.image, copy.state = ctypes.addressof(image), None
    for position in (0, 20, copy.image_bytes // 2, copy.image_bytes - 1):
        image[position] ^= 1
        assert rt.tw_open(ctypes.byref(copy), None) == BAD_LIBRARY
        image[position] ^= 1
    copy.image_bytes -= 8
    assert rt.tw_open(ctypes.byref(copy), None) == BAD_LIBRARY
    copy.image_bytes += 8
    assert rt.tw_open(ctypes.byref(copy), None) == OK
    rt.tw_find.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    assert rt.tw_find(ctypes.addressof(copy), b"shift") == 2
    assert rt.tw_find(ctypes.addressof(copy), b"nothing") == -1
    rt.tw_close(ctypes.byref(copy))


# ---- GPUs ----

ON_GPU = """
import sys
sys.path[:0] = sys.argv[2:]
import ctypes
import numpy as np
import exported
from exported import Exported, OnGpu

ops = Exported(sys.argv[1])
rng = np.random.default_rng(0)
for m, n, k, skip in ((64, 64, 64, 0), (33, 40, 17, 0), (64, 48, 32, 2)):
    a = rng.integers(-3, 4, (m, k)).astype(np.float16)
    b = rng.integers(-3, 4, (k, n)).astype(np.float16)
    c = np.full((m, n), -1, np.float32)
    on_gpu = [OnGpu(a, skip), OnGpu(b), OnGpu(c)]
    result = ops.call("gemm", *(x.tensor for x in on_gpu), ctypes.c_float(2), stream=16)
    assert result == (0, ""), result
    assert (on_gpu[2].get() == a.astype(np.float32) @ b.astype(np.float32) + 2).all(), (m, n, k)
for size in (1, 100):
    a, b = np.arange(size, dtype=np.int32), np.full(size, -1, np.float32)
    on_gpu = OnGpu(a), OnGpu(b)
    numbers = ctypes.c_float(0.5), ctypes.c_int64(-(2**40)), ctypes.c_bool(True)
    result = ops.call("chain", on_gpu[0].tensor, *numbers, on_gpu[1].tensor)
    assert result == (0, ""), result
    assert (on_gpu[1].get() == a * 0.5 - 3).all()
mixed = np.zeros(64, np.float32)  # of the host: copied there and back
x = OnGpu(np.arange(64, dtype=np.float32))
assert ops.call("shift", x.tensor, mixed, 0) == (0, "")
assert (mixed == np.arange(64) + 1).all()
print("agree")
"""


def on_gpu(folder: Path, gpus: str, driver: str | None = None) -> subprocess.CompletedProcess:
    from test_cuda import DRIVER

    if not DRIVER.exists():
        pytest.skip("the stand-in for the driver is part of a build tree")
    here = str(Path(__file__).parent)
    return subprocess.run(
        [sys.executable, "-c", ON_GPU, str(folder / "ops.so"), here],
        capture_output=True,
        text=True,
        timeout=300,
        env={
            **os.environ,
            "TILEWRIGHT_LIBCUDA": driver or str(DRIVER),
            "TILEWRIGHT_FAKE_GPUS": gpus,
        },
    )


@pytest.mark.parametrize("gpus", ["8.0", "9.0", "12.0"])
def test_tensors_of_a_gpu_run_there(folder: Path, gpus: str) -> None:
    """On 9.0 by tensor maps, on 12.0 by PTX for 8.0."""
    done = on_gpu(folder, gpus)
    assert (done.returncode, done.stdout) == (0, "agree\n"), done.stderr


@pytest.mark.skipif(find_ptxas() is None, reason="ptxas is not installed")
def test_cubins_are_for_their_gpu_and_ptx_for_others(tmp_path: Path) -> None:
    kernels = {"gemm": gemm(), "shift": shift(), "chain": chain()}
    options = {"cpus": ["x86-64-v3"], "archs": ["sm_80"], "cubins": True, "formats": ["so"]}
    tilewright.export_library(tmp_path / "ops", kernels, **options)
    library = json.loads((tmp_path / "ops.json").read_text())
    forms = [code["form"] for code in library["functions"][1]["forms"][0]["gpu"]]
    assert forms == ["cubin", "ptx"] * (len(forms) // 2)
    done = on_gpu(tmp_path, "8.6")  # the driver compiles PTX
    assert (done.returncode, done.stdout) == (0, "agree\n"), done.stderr
    done = on_gpu(tmp_path, "8.0")  # the stand-in for the driver runs PTX only
    assert "(4, " in done.stderr and r"got '\x7f'" in done.stderr, done.stderr


def test_a_gpu_without_code_is_told(folder: Path) -> None:
    done = on_gpu(folder, "7.5")
    assert (
        "(2, \"'gemm' has no code for this call on the GPU 'virtual GPU 0' of compute capability "
        '7.5; the library has code for sm_80, sm_90a")'
    ) in done.stderr, done.stderr


def test_a_missing_driver_is_told(ops: Exported) -> None:
    script = (
        "import sys; sys.path[:0] = sys.argv[2:]\n"
        "import numpy as np\nfrom exported import Exported, tensor\n"
        "x = tensor(np.zeros(64, np.float32), 4096, (2, 0))\n"
        "print(Exported(sys.argv[1]).call('shift', x, x, 0))\n"
    )
    command = [sys.executable, "-c", script, str(ops.handle._name), str(Path(__file__).parent)]
    for driver, message in (
        ("none", "TILEWRIGHT_LIBCUDA hides the GPUs"),
        ("/no/such.so", "no CUDA driver"),
    ):
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env={**os.environ, "TILEWRIGHT_LIBCUDA": driver},
        )
        assert done.stdout.startswith("(3, "), done.stderr
        assert message in done.stdout


# ---- Files ----


def test_the_description_lists_parameters_and_code(folder: Path) -> None:
    library = json.loads((folder / "ops.json").read_text())
    assert [f["name"] for f in library["functions"]] == ["gemm", "softmax", "shift", "chain"]
    (form,) = library["functions"][0]["forms"]
    assert [p["name"] for p in form["params"]] == ["A", "B", "C", "bias"]
    assert form["params"][0]["shape"] == ["M", "K"]
    assert [(c["target"], c["disjoint"]) for c in form["cpu"]] == [
        ("x86-64-v4", True), ("x86-64-v4", False), ("x86-64-v3", True), ("x86-64-v3", False),
    ]  # fmt: skip
    facts = [(g["arch"], g["disjoint"], g["alignment"], g["divisible"]) for g in form["gpu"]]
    assert facts[0] == ("sm_80", True, 16, ["N", "K"]) or facts[0] == (
        "sm_80",
        True,
        16,
        ["K", "N"],
    )
    assert facts[-1] == ("sm_90a", False, 2, [])
    assert any(k["tensor_maps"] for g in form["gpu"] for k in g["kernels"])
    assert len(library["functions"][1]["forms"]) == 2


def test_the_runtime_is_small_and_needs_libc_only() -> None:
    file = Path(tilewright.get_cmake_dir()).parents[1] / "libtilewright_rt.so.0"
    assert file.stat().st_size <= 1 << 20
    needed = subprocess.run(
        ["readelf", "-d", file], capture_output=True, text=True, check=True
    ).stdout
    names = {line.split("[")[1].rstrip("]") for line in needed.splitlines() if "(NEEDED)" in line}
    assert names <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", file], capture_output=True, text=True
    ).stdout
    assert all(line.split()[-1].startswith("tw_") for line in symbols.splitlines())


def test_the_runtime_needs_no_newer_libc_than_a_wheel() -> None:
    """manylinux_2_34; what it takes from a newer one is in lib/Rt/OldGlibc.c."""
    file = Path(tilewright.get_cmake_dir()).parents[1] / "libtilewright_rt.so.0"
    symbols = subprocess.run(["nm", "-D", file], capture_output=True, text=True, check=True).stdout
    versions = {tuple(map(int, v.split("."))) for v in re.findall(r"@GLIBC_([\d.]+)", symbols)}
    assert (2, 34) in versions
    assert max(versions) == (2, 34)


#: No room for the stack of a thread: what C++ throws there must not leave the library.
WITHOUT_ROOM = """
import os, resource, sys
os.environ["TILEWRIGHT_THREADS"] = "4"
sys.path.insert(0, {tests!r})
import numpy as np
from exported import Exported
ops = Exported({library!r})
x, y = np.zeros((8, 64), np.float32), np.zeros((8, 64), np.float32)
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + (1 << 20), resource.RLIM_INFINITY))
print(ops.call("softmax", x, y))
"""


def test_an_exception_of_the_runtime_is_a_code(folder: Path) -> None:
    tests = str(Path(__file__).parent)
    text = WITHOUT_ROOM.format(tests=tests, library=str(folder / "ops.so"))
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.stdout == f"({RUN_ERROR}, 'Resource temporarily unavailable')\n", done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cpus": ["z80"]}, "unknown processor 'z80'; known are x86-64-v3, x86-64-v4 and host"),
        ({"archs": ["sm_12"]}, "unknown architecture 'sm_12'; known are sm_80"),
        ({"cpus": []}, "a library needs a processor or an architecture to run on"),
        ({"formats": ["exe"]}, "a library cannot be written as 'exe'; known are a, so, o"),
    ],
)
def test_what_cannot_be_exported(options: dict, message: str, tmp_path: Path) -> None:
    with pytest.raises(TilewrightError) as raised:
        tilewright.export_library(tmp_path / "bad", shift(), **options)
    assert message in str(raised.value)


def test_names_must_be_names_of_c(tmp_path: Path) -> None:
    for names in ({"while": shift()}, {"2x": shift()}):
        with pytest.raises(TilewrightError, match="cannot be the name of a function in C"):
            tilewright.export_library(tmp_path / "bad", names)


def test_tw_compile_emits_a_library(tmp_path: Path) -> None:
    script = tmp_path / "quick.py"
    script.write_text(
        "from exported import shift, softmax\nshift()\nsoftmax(8, 64)\nsoftmax(6, 96)\n"
    )
    command = [sys.executable, "-m", "tilewright", "compile", "quick.py", "--emit", "library"]
    done = subprocess.run(
        [*command, "-o", "out/", "--cpus", "x86-64-v3"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "out/quick.h\nout/quick.a\nout/quick.json\n"
    library = json.loads((tmp_path / "out" / "quick.json").read_text())
    assert [(f["name"], len(f["forms"])) for f in library["functions"]] == [
        ("shift", 1),
        ("softmax", 2),
    ]


# ---- Programs ----

C_PROGRAM = r"""
#include "ops.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  float x[8 * 64], y[8 * 64];
  for (int i = 0; i < 8 * 64; ++i)
    x[i] = (float)(i * 7 % 13) / 4;
  int64_t shape[] = {8, 64};
  DLTensor X = {x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0}, Y = X;
  Y.data = y;
  tw_error error;
  if (softmax(&X, &Y, NULL, &error) != TW_OK) {
    printf("%s\n", error.message);
    return 1;
  }
  double worst = 0;
  for (int row = 0; row < 8; ++row) {
    double sum = 0;
    for (int j = 0; j < 64; ++j)
      sum += exp(x[row * 64 + j]);
    for (int j = 0; j < 64; ++j)
      worst = fmax(worst, fabs(exp(x[row * 64 + j]) / sum - y[row * 64 + j]));
  }
  X.ndim = 1;
  int code = softmax(&X, &Y, NULL, &error);
  printf("%d %d %d\n", worst < 1e-6, code, strstr(error.message, "expected rank 2") != NULL);
  tw_close(&ops_library);
  return 0;
}
"""


def build(folder: Path, tmp_path: Path, compiler: list[str], *inputs: str) -> Path:
    """The program, linked with a library of `folder`."""
    rt = Path(tilewright.get_cmake_dir()).parents[2]
    program = tmp_path / "program"
    command = [
        *compiler, "-Wall", "-Wextra", "-Werror", f"-I{folder}", f"-I{rt / 'include'}",
        "-o", str(program), *inputs, f"-L{rt / 'lib'}", "-ltilewright_rt", "-lm",
        f"-Wl,-rpath,{rt / 'lib'}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return program


@pytest.mark.parametrize(
    ("compiler", "kind"),
    [
        ("gcc -std=c99", "a"),
        ("gcc -std=c99", "o"),
        ("gcc -std=c99", "so"),
        ("g++ -std=c++17", "a"),
        ("clang-22 -std=c11", "a"),
    ],
)
def test_programs_link_each_kind_of_library(
    folder: Path, tmp_path: Path, compiler: str, kind: str
) -> None:
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip(f"{compiler.split()[0]} is not installed")
    file = tmp_path / ("program.cpp" if "++" in compiler else "program.c")
    file.write_text(C_PROGRAM)
    library = [str(folder / f"ops.{kind}"), f"-Wl,-rpath,{folder}"]
    program = build(folder, tmp_path, compiler.split(), str(file), *library)
    done = subprocess.run([program], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("1 1 1\n", 0)


def test_two_libraries_in_one_process(folder: Path, tmp_path: Path, ops: Exported) -> None:
    tilewright.export_library(tmp_path / "other", shift(), cpus=["x86-64-v3"], formats=["so"])
    other = Exported(tmp_path / "other.so")
    values, result = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    assert other.call("shift", values, result, 0) == (OK, "")
    assert ops.call("shift", result, values, 0) == (OK, "")
    np.testing.assert_array_equal(values, np.arange(64) + 2)


def test_tensor_is_dlpacks() -> None:
    assert ctypes.sizeof(Tensor) == 48
