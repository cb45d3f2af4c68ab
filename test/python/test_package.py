"""What an installed package promises: light to import, knows its commit, says what is missing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import tilewright

#: Prints the packages from elsewhere that its argument, a Python statement, has loaded.
THIRD_PARTY = """
import sys
before = set(sys.modules)
exec(sys.argv[1])
own = {"tilewright", "_tilewright_core"}
roots = {name.partition(".")[0] for name in set(sys.modules) - before}
print(sorted(roots - own - sys.stdlib_module_names))
"""


def python(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    "statement",
    [
        "import tilewright",
        "import tilewright.language",
        "import tilewright; tilewright.jit, tilewright.autotune, tilewright.Profiler",
        "import tilewright.cli.commands",
        "import tilewright.cli.doctor",
    ],
)
def test_an_import_loads_no_third_party_package(statement: str) -> None:
    done = python("-c", THIRD_PARTY, statement)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_the_import_of_the_package_loads_little() -> None:
    """Neither the compiler nor the large modules of Python's library."""
    heavy = {"_tilewright_core", "tilewright._core", "pathlib", "inspect", "ast", "subprocess"}
    program = f"import sys, tilewright; print(sorted({heavy!r} & set(sys.modules)))"
    assert python("-S", "-c", program, PYTHONPATH=os.pathsep.join(sys.path)).stdout == "[]\n"


def test_the_version_names_the_commit() -> None:
    assert re.fullmatch(r"0\.1\.0\+g[0-9a-f]{12}(\.dirty)?", tilewright.__version__)
    assert (
        python("-m", "tilewright", "--version").stdout == f"tilewright {tilewright.__version__}\n"
    )


def test_exceptions_of_the_users_code_show_the_users_frames_only(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import tilewright.language as T\n"
        "def helper():\n"
        "    raise RuntimeError('mine')\n"
        "@T.prim_func\n"
        "def main(A: T.Tensor((4,), 'float32')):\n"
        "    with T.Kernel(1, threads=32):\n"
        "        helper()\n"
    )
    shown = python(str(script)).stderr
    assert shown.endswith("RuntimeError: mine\n")
    assert re.findall(r'File ".*/([^/]+)", line (\d+)', shown) == [
        ("script.py", "4"),
        ("script.py", "7"),
        ("script.py", "3"),
    ]
    assert "frontend" in python(str(script), TILEWRIGHT_DEBUG="1").stderr


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "import tilewright.langauge as T",
            "there is no module 'tilewright.langauge'; did you mean 'tilewright.language'?",
        ),
        (
            "from tilewright import profilr",
            "module 'tilewright' has no attribute 'profilr'; did you mean 'tilewright.profiler'?",
        ),
        (
            "from tilewright import jitt",
            "module 'tilewright' has no attribute 'jitt'; did you mean 'tilewright.jit'?",
        ),
        (
            "from tilewright.language import alloc_fragmnet",
            "the language has no 'T.alloc_fragmnet'; did you mean 'T.alloc_fragment'?",
        ),
    ],
)
def test_misspelt_imports_are_reports(statement: str, message: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"{statement}\n")
    shown = python(str(script)).stderr
    assert f"script.py:1:1: error: {message}" in shown
    assert "Traceback" not in shown
    caught = f"try:\n    {statement}\nexcept ImportError:\n    print('caught')\n"
    assert python("-c", caught).stdout == "caught\n"


# ---- tw doctor ----


def doctor(**environment: str) -> tuple[int, dict[str, dict[str, str]]]:
    done = python("-m", "tilewright", "doctor", "--json", **environment)
    assert done.stderr == ""
    return done.returncode, {finding["subject"]: finding for finding in json.loads(done.stdout)}


def test_doctor_names_versions_devices_and_cache(tmp_path: Path) -> None:
    status, findings = doctor(TILEWRIGHT_CACHE_DIR=str(tmp_path), TILEWRIGHT_LIBCUDA="none")
    assert status == 0
    assert findings["tilewright"]["text"].startswith(tilewright.__version__)
    assert findings["compiler"]["text"].startswith("LLVM 22.")
    assert "vgpu:sm_90a" in findings["virtual GPU"]["text"]
    assert findings["cuda"]["state"] == "absent"
    assert findings["cache"]["text"].startswith(str(tmp_path))


def test_doctor_says_what_to_do_about_missing_tools_of_nvidia() -> None:
    status, findings = doctor(TILEWRIGHT_PTXAS="none", TILEWRIGHT_NVDISASM="none")
    assert status == 0
    assert findings["ptxas"]["state"] == findings["nvdisasm"]["state"] == "absent"
    assert "pip install nvidia-cuda-nvcc" in findings["ptxas"]["advice"]
    assert "pip install nvidia-cuda-nvdisasm" in findings["nvdisasm"]["advice"]


def test_doctor_fails_where_a_setting_is_wrong() -> None:
    status, findings = doctor(TILEWRIGHT_PTXAS="/no/such/program")
    assert status == 1
    assert findings["ptxas"]["state"] == "wrong"


def test_doctor_fails_where_a_needed_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    from tilewright.cli import doctor as module

    monkeypatch.setattr(module, "_NEEDED", ("no-such-package",))
    findings = {finding.subject: finding for finding in module.examine()}
    assert findings["no-such-package"].state == "wrong"
    assert findings["no-such-package"].advice.endswith("-m pip install no-such-package")


def test_doctor_prints_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    from tilewright.cli.doctor import show_report

    assert show_report(as_json=False) == 0
    assert re.search(r"^ok +numpy +\d", capsys.readouterr().out, re.MULTILINE)


# ---- As a wheel is installed ----


def test_errors_are_reports_where_the_extension_is_inside_the_package(tmp_path: Path) -> None:
    """In a build tree the extension module stands beside the package, in a wheel inside it."""
    from tilewright._core import core

    package = Path(tilewright.__file__).parent
    (tmp_path / "tilewright").mkdir()
    for entry in [*package.iterdir(), Path(core.__file__)]:
        if entry.name != "__pycache__" and not (tmp_path / "tilewright" / entry.name).exists():
            (tmp_path / "tilewright" / entry.name).symlink_to(entry)
    script = tmp_path / "script.py"
    script.write_text(
        "import tilewright, tilewright.language as T\n"
        "@T.prim_func\n"
        "def main(A: T.Tensor((4,), 'float32')):\n"
        "    with T.Kernel(1, threads=32):\n"
        "        s = T.alloc_shared((999999,), 'float32')\n"
        "        T.clear(s)\n"
        "        A[0] = s[0]\n"
        "tilewright.compile(main, target='sm_80').ptx\n"
    )
    shown = python(str(script), PYTHONPATH=str(tmp_path)).stderr
    assert "script.py:4:5: error: kernel needs " in shown
    assert "Traceback" not in shown
