"""The compiler from C++: tilewright/tilewright.h, in a program built without headers of LLVM."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import tilewright
import tilewright.language as T
from tilewright._core import core

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = Path(core.__file__).parents[1] / "lib" / "libtilewright.so"
needs_library = pytest.mark.skipif(
    not LIBRARY.exists(), reason="libtilewright is not built; 'make build' does so"
)


@tilewright.jit
def scale():
    @T.prim_func
    def scale(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32"), x: T.float32):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(64):
                B[i] = A[i] * x

    return scale


@needs_library
def test_a_program_compiles_and_runs_kernels(tmp_path: Path) -> None:
    tilewright.export_library(tmp_path / "given", scale(), cpus=["x86-64-v3"], formats=["so"])
    program = tmp_path / "cpp_api"
    build = [
        "g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}",
        str(Path(__file__).with_name("cpp_api.cpp")), "-o", str(program), f"-L{LIBRARY.parent}",
        "-ltilewright", f"-Wl,-rpath,{LIBRARY.parent}",
    ]  # fmt: skip
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([program, tmp_path], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("good\n", 0), done.stderr
    assert {"made.h", "made.a", "made.json"} <= {file.name for file in tmp_path.iterdir()}


def test_public_headers_name_nothing_of_llvm() -> None:
    for header in ("tilewright.h", "builder.h", "runtime.h"):
        text = (ROOT / "include" / "tilewright" / header).read_text()
        assert not re.search(r"#include *[<\"](llvm|mlir|tilewright/\w+/)", text)
        assert not re.search(r"\b(llvm|mlir)::", text)
