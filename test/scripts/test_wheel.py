"""The wheels of `make wheel`: their symbols, and their life in a Debian tree without LLVM.

The first tests look at wheels that are already in dist/; the slow ones build them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import bare_trees
import build_wheels
import check_wheel
import pytest

ROOT = Path(build_wheels.__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
KINDS = {"3.11": "tilewright-*-cp311-*.whl", "abi3": "tilewright-*-abi3-*.whl", "sdist": "*.tar.gz"}
#: What only a build tree has.
NOT_INSTALLED = (
    "test_cuda.py",  # a stand-in for the driver
    "test_selftest.py",  # the same
    "test_fatal_errors.py",
    "test_tilelang_names.py",
    "test_tilelang_signatures.py",
)


def found(kind: str) -> Path:
    """The file in dist/, or a skipped test."""
    files = sorted((ROOT / "dist").glob(KINDS[kind]))
    if not files:
        pytest.skip(f"dist/ has no {KINDS[kind]}; 'make wheel' builds it")
    return files[-1]


# ---- Numbers that are written in more than one place ----


def test_the_release_is_the_same_everywhere() -> None:
    from tilewright.support.version import RELEASE

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (of_cmake,) = re.findall(
        r"project\(tilewright VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()
    )
    assert RELEASE == project["version"] == of_cmake


def test_the_packages_that_build_are_pinned_alike() -> None:
    requires = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    pins = build_wheels.REQUIREMENTS.read_text()
    assert all(re.search(rf"^{re.escape(pin)}\b", pins, re.MULTILINE) for pin in requires)
    (nanobind,) = (pin for pin in requires if pin.startswith("nanobind"))
    assert nanobind in (ROOT / "scripts" / "requirements.txt").read_text()


# ---- What the check refuses ----


@pytest.mark.parametrize(
    ("name", "version", "weak", "fault"),
    [
        ("memcpy", "GLIBC_2.14", False, None),
        ("arc4random", "GLIBC_2.36", False, "'arc4random' needs GLIBC_2.36"),
        ("_Unwind_Resume", "GCC_3.0", False, None),
        ("_ZSt9terminatev", "GLIBCXX_3.4", False, "'_ZSt9terminatev' needs GLIBCXX_3.4"),
        ("PyLong_AsLong", None, False, None),
        ("_Py_NoneStruct", None, False, None),
        ("__gmon_start__", None, True, None),
        (
            "Z3_mk_config",
            None,
            False,
            "'Z3_mk_config' is defined by no library that the wheel may need",
        ),
    ],
)
def test_undefined_symbols(name: str, version: str | None, weak: bool, fault: str | None) -> None:
    assert check_wheel.undefined_fault(name, version, weak) == fault


def test_a_wheel_without_its_parts_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "tilewright-0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("tilewright/py.typed", "")
    assert list(check_wheel.faults_of(file)) == [
        "'tilewright/_tilewright_core.pyi' is missing",
        "'tilewright/support/commit.py' is missing",
        "'tilewright/cpp/include/tilewright/runtime.h' is missing",
        "'tilewright/cpp/lib/cmake/Tilewright/TilewrightConfig.cmake' is missing",
        "'tilewright/cpp/lib/libtilewright_rt.a' is missing",
        "'tilewright/cpp/lib/libtilewright_rt.so.0' is missing",
        "'METADATA' is missing",
        "expected one extension module, got none",
    ]


# ---- Wheels that were built ----


@pytest.mark.parametrize("kind", ["3.11", "abi3"])
def test_a_built_wheel_passes_the_check(kind: str) -> None:
    wheel = found(kind)
    pythons = sorted((ROOT / "build-wheel").glob("venv-*/bin/python"))
    if not pythons:
        pytest.skip("build-wheel/ has no environment with pyelftools; 'make wheel' makes it")
    script = [str(pythons[0]), str(ROOT / "scripts" / "check_wheel.py"), str(wheel)]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert re.search(r"manylinux_2_(\d+)_x86_64\.whl$", wheel.name)


def test_the_source_distribution_names_its_commit_and_licence() -> None:
    with tarfile.open(found("sdist")) as archive:
        names = {name.partition("/")[2]: name for name in archive.getnames()}
        assert {"LICENSE", "README.md", "PKG-INFO", "COMMIT", "CMakeLists.txt"} <= set(names)
        commit = archive.extractfile(names["COMMIT"]).read().decode()  # type: ignore[union-attr]
    assert re.fullmatch(r"[0-9a-f]{12}(-dirty)?\n", commit)


# ---- The proof ----


def commit_of(wheel: Path) -> str:
    """What the wheel says it was built from."""
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read("tilewright/support/commit.py").decode()
    return re.findall(r'COMMIT = "(.*)"', text)[0]


def built_from_this_commit() -> bool:
    """Whether dist/ has both wheels of what is checked out, without local changes."""
    describe = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    done = subprocess.run(describe, cwd=ROOT, capture_output=True, text=True, check=True)
    files = [sorted((ROOT / "dist").glob(KINDS[kind])) for kind in ("3.11", "abi3")]
    commits = {commit_of(found[-1]) if found else "" for found in files}
    return commits == {done.stdout.strip()} and not done.stdout.endswith("-dirty\n")


@pytest.fixture(scope="module")
def wheels() -> dict[str, Path]:
    """Both wheels of this commit, built if need be; skipped where a Python is missing."""
    if built_from_this_commit():
        return {kind: found(kind) for kind in ("3.11", "abi3")}
    for kind in ("3.11", "abi3"):
        if build_wheels.find_python(kind) is None:
            pytest.skip(f"no Python with C headers to build the wheel '{kind}' with")
    script = [sys.executable, str(ROOT / "scripts" / "build_wheels.py")]
    done = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return {kind: found(kind) for kind in ("3.11", "abi3")}


@pytest.fixture(
    scope="module", params=[("bookworm", "3.11"), ("trixie", "abi3")], ids=lambda p: p[0]
)
def tree(request: pytest.FixtureRequest, wheels: dict[str, Path]) -> bare_trees.Tree:
    """A Debian tree with the wheel in it: Debian 12 has Python 3.11, Debian 13 has 3.13."""
    suite, kind = request.param
    made = bare_trees.make_tree(suite, name=f"{suite}-wheel")
    bare_trees.install(made, wheels[kind])
    for name in (
        "benchmarks",
        "docs",
        "examples",
        "include",
        "test",
        "pyproject.toml",
        "vgpu/test",
    ):
        made.copy(name)
    return made


def succeed(tree: bare_trees.Tree, command: str, seconds: int = 600) -> str:
    done = tree.run(command, seconds)
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.mark.slow
def test_the_first_kernel_runs_without_llvm(tree: bare_trees.Tree) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    maps = "\nprint([x for x in open('/proc/self/maps') if 'libLLVM' in x or 'libMLIR' in x])\n"
    (tree.path / "work" / "first.py").write_text(program + maps)
    assert succeed(tree, "python first.py") == "largest error: 0.0\n[]\n"


@pytest.mark.slow
def test_the_commands_run(tree: bare_trees.Tree) -> None:
    assert re.fullmatch(r"tilewright 0\S+\+g[0-9a-f]{12}\S*\n", succeed(tree, "tw --version"))
    assert re.search(r"^ok +compiler +LLVM 22", succeed(tree, "tw doctor"), re.MULTILINE)
    assert "reached twice" not in succeed(tree, "tw-opt --help | head -20")
    (tree.path / "work" / "empty.mlir").write_text("module {\n}\n")
    assert "module" in succeed(tree, "tw-opt empty.mlir")
    ptx = "vgpu/test/ptx/async-not-waited.ptx"
    assert "instructions" in succeed(tree, f"tw-vgpu {ptx}")


@pytest.mark.slow
def test_the_seed_runs(tree: bare_trees.Tree) -> None:
    succeed(tree, "tw run examples/seed/flash_attention_backward.py", 1800)
    succeed(tree, "cd examples/seed && python run_seed.py --quick", 1800)


@pytest.mark.slow
def test_the_python_tests_pass(tree: bare_trees.Tree) -> None:
    ignored = " ".join(f"--ignore=test/python/{name}" for name in NOT_INSTALLED)
    short = "-q -p no:cacheprovider --tb=line -rfE"  # the end of the output names all failures
    succeed(tree, f"python -m pytest {short} test/python {ignored}", 3600)


#: Each at work with its own LLVM, and exceptions through each one's C++ code.
USE_ALL = """
import triton._C.libtriton as libtriton
libtriton.ir.load_dialects(libtriton.ir.context())
try:
    torch.zeros(2, 3) @ torch.zeros(2, 3)
except RuntimeError:
    print("torch is used")
try:
    tilewright.Layout("nonsense")
except Exception:
    print("tilewright is used")
"""
ORDERS = [("tilewright", "torch", "triton"), ("torch", "triton", "tilewright")]


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_torch_and_triton_may_be_loaded_first_or_later(
    wheels: dict[str, Path], tmp_path: Path, order: tuple[str, ...]
) -> None:
    """TILEWRIGHT_TORCH_PYTHON names a Python that has torch, triton, numpy and ml_dtypes."""
    python = os.environ.get("TILEWRIGHT_TORCH_PYTHON")
    if not python:
        pytest.skip("TILEWRIGHT_TORCH_PYTHON does not name a Python with torch and triton")
    version = build_wheels.version_of(python)
    with zipfile.ZipFile(wheels["3.11" if version == "3.11" else "abi3"]) as archive:
        archive.extractall(tmp_path)
    (program,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    file = tmp_path / "both.py"
    file.write_text("".join(f"import {name}\n" for name in order) + USE_ALL + program)
    done = subprocess.run(
        [python, str(file)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    lines = ["torch is used", "tilewright is used", "largest error: 0.0"]
    assert done.stdout.splitlines() == lines
