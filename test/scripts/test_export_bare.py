"""Exported libraries in a Debian tree that has a C compiler, and neither LLVM nor Python."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import bare_trees
import pytest
import tilewright

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "cpp"
#: Program and language.
PROGRAMS = {"gemm": "c", "softmax": "cpp", "seed": "cpp", "threads": "cpp", "shapes": "cpp"}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> bare_trees.Tree:
    """The tree with the runtime installed by CMake, exported libraries, and clang's programs."""
    made = bare_trees.make_tree("bookworm", "gcc,g++,libc6-dev,pkg-config,valgrind", "bookworm-cpp")
    work = made.path / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    prefix = made.path / "opt" / "tilewright"
    shutil.rmtree(prefix, ignore_errors=True)
    install = ["cmake", "--install", ROOT / "build", "--component", "runtime", "--prefix", prefix]
    subprocess.run(install, check=True, capture_output=True)
    for name, ending in PROGRAMS.items():
        subprocess.run([sys.executable, EXAMPLES / name / "kernels.py", work / name], check=True)
        shutil.copy(EXAMPLES / name / f"{name}.{ending}", work / name)
        clang = ["clang++-22", "-std=c++20"] if ending == "cpp" else ["clang-22"]
        (archive,) = (work / name).glob("*.a")
        subprocess.run(
            [
                *clang, work / name / f"{name}.{ending}", archive, f"-I{work / name}",
                f"-I{prefix}/include",
                f"-L{prefix}/lib", "-ltilewright_rt", "-lm", "-Wl,-rpath,/opt/tilewright/lib",
                "-static-libstdc++", "-o", work / name / "by-clang",
            ],
            check=True,
        )  # fmt: skip
    return made


def succeed(tree: bare_trees.Tree, command: str, seconds: int = 600) -> str:
    done = tree.run(command, seconds)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.mark.slow
def test_the_tree_has_neither_llvm_nor_python(tree: bare_trees.Tree) -> None:
    found = succeed(
        tree, "find /usr /opt -name 'libLLVM*' -o -name 'libMLIR*' -o -name 'python3*' -type f"
    )
    assert [line for line in found.splitlines() if "/share/" not in line] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_run(tree: bare_trees.Tree, name: str) -> None:
    ending = PROGRAMS[name]
    compiler = "g++ -std=c++20" if ending == "cpp" else "gcc -std=c99"
    flags = "$(PKG_CONFIG_PATH=/opt/tilewright/lib/pkgconfig pkg-config --cflags --libs tilewright)"
    succeed(
        tree,
        f"cd {name} && {compiler} {name}.{ending} *.a -I. {flags} "
        "-Wl,-rpath,/opt/tilewright/lib -o by-gcc",
    )
    of_gcc = succeed(tree, f"{name}/by-gcc")
    assert (
        of_gcc
        == succeed(tree, f"{name}/by-clang")
        == succeed(tree, f"TILEWRIGHT_CPU=avx2 {name}/by-gcc")
    )
    static = (
        f"cd {name} && {compiler} {name}.{ending} *.a -I. -I/opt/tilewright/include -o by-archive"
    )
    succeed(tree, f"{static} /opt/tilewright/lib/libtilewright_rt.a -lstdc++ -ldl -lpthread -lm")
    assert succeed(tree, f"{name}/by-archive") == of_gcc


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gemm", "softmax", "shapes"])
def test_valgrind_finds_nothing(tree: bare_trees.Tree, name: str) -> None:
    """valgrind does not know AVX-512."""
    check = "valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite"
    succeed(tree, f"TILEWRIGHT_CPU=avx2 {check} {name}/by-gcc", 1200)


def test_the_runtime_installs_by_cmake(tmp_path: Path) -> None:
    install = ["cmake", "--install", ROOT / "build", "--component", "runtime", "--prefix", tmp_path]
    subprocess.run(install, check=True, capture_output=True)
    names = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if not file.is_dir()}
    package = Path(tilewright.get_cmake_dir()).parents[2]
    assert {
        "include/tilewright/runtime.h",
        "lib/libtilewright_rt.a",
        "lib/libtilewright_rt.so",
        "lib/libtilewright_rt.so.0",
        "lib/cmake/Tilewright/TilewrightConfig.cmake",
        "lib/cmake/Tilewright/TilewrightConfigVersion.cmake",
        "lib/pkgconfig/tilewright.pc",
    } <= names
    assert all((package / name).exists() for name in names)
