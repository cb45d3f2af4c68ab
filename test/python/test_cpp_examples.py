"""The programs of examples/cpp: exported, built by CMake, run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import tilewright

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "cpp"
#: What each program prints.
PRINTED = {
    "gemm": "largest error: 0\nrefused: parameter 'B': dimension 0: expected K = 90 (from 'A' "
    "dimension 1), got 89 in shape (89, 70)\n",
    "softmax": "largest error below 1e-6: yes\n",
    "shapes": "shapes has 'transpose'\ntransposed: yes\n"
    "code 1: parameter 'A': expected shape (16, 16), got (5, 5) (dimensio...\n",
    "threads": "wrong results: 0\n",
    "seed": "largest error, relative to the largest value, below 0.002: yes\n",
}


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_every_example_is_tried() -> None:
    assert {folder.name for folder in EXAMPLES.iterdir() if folder.is_dir()} == set(PRINTED)


@pytest.mark.parametrize("name", PRINTED)
@pytest.mark.parametrize("compiler", ["gcc", pytest.param("clang", marks=pytest.mark.slow)])
def test_examples_build_and_run(name: str, compiler: str, tmp_path: Path) -> None:
    source = tmp_path / name
    source.mkdir()
    for file in (EXAMPLES / name).iterdir():
        if file.is_file():
            (source / file.name).write_bytes(file.read_bytes())
    run(sys.executable, EXAMPLES / name / "kernels.py", source / "out")
    of_cpp = {"gcc": "g++", "clang": "clang++-22"}[compiler]
    of_c = {"gcc": "gcc", "clang": "clang-22"}[compiler]
    run(
        "cmake", "-S", source, "-B", source / "build",
        f"-DTilewright_DIR={tilewright.get_cmake_dir()}",
        f"-DCMAKE_C_COMPILER={of_c}", f"-DCMAKE_CXX_COMPILER={of_cpp}",
        "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror",
    )  # fmt: skip
    run("cmake", "--build", source / "build")
    assert run(source / "build" / name) == PRINTED[name]


def test_pkg_config_finds_the_runtime(tmp_path: Path) -> None:
    folder = Path(tilewright.get_cmake_dir()).parents[1] / "pkgconfig"
    flags = run(
        "env", f"PKG_CONFIG_PATH={folder}", "pkg-config", "--cflags", "--libs", "tilewright"
    ).split()
    file = tmp_path / "version.c"
    file.write_text(
        "#include <stdio.h>\n#include <tilewright/runtime.h>\n"
        "int main(void) { return puts(tw_version()) < 0; }\n"
    )
    run("cc", file, "-o", tmp_path / "version", *flags, f"-Wl,-rpath,{folder.parent}")
    assert run(tmp_path / "version") == "0.1.0\n"
