"""The command line, run as users run it."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import tilewright

ROOT = Path(__file__).resolve().parents[2]
SEED = ROOT / "examples" / "seed" / "flash_attention_backward.py"


def tw(*arguments: str, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess:
    """Runs `python -m tilewright`."""
    return subprocess.run(
        [sys.executable, "-m", "tilewright", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **environment},
        check=False,
    )


def test_help_shows_an_example() -> None:
    done = tw("--help")
    assert done.returncode == 0
    assert "tw run examples/seed/flash_attention_backward.py" in done.stdout


def test_seed_script_runs_unmodified() -> None:
    done = tw("run", str(SEED.relative_to(ROOT)))
    assert done.returncode == 0, done.stderr
    assert "kernel 'flash_bwd' (examples/seed/flash_attention_backward.py:" in done.stdout
    assert "grid 64 x 64 x 1, threads 128" in done.stdout
    assert "dv_shared" in done.stdout
    assert "trace " in done.stdout


def test_seed_script_asks_for_the_architecture() -> None:
    done = tw("run", str(SEED), "--arch", "sm_90")
    assert done.returncode == 0, done.stderr
    assert "grid 64 x 32 x 1, threads 256" in done.stdout


def test_compile_prints_the_ir() -> None:
    done = tw("compile", "examples/quickstart.py", "--emit", "tile")
    assert done.returncode == 0, done.stderr
    assert "tile.gemm" in done.stdout


def test_errors_are_printed_without_a_traceback() -> None:
    done = tw("run", "break_in_parallel.py", cwd=ROOT / "test" / "python" / "bad_input")
    assert done.returncode == 1
    assert done.stderr.startswith("break_in_parallel.py:11:17: error: 'break' inside T.Parallel")
    assert "Traceback" not in done.stderr


def test_debugging_shows_the_traceback() -> None:
    folder = ROOT / "test" / "python" / "bad_input"
    done = tw("run", "break_in_parallel.py", cwd=folder, TILEWRIGHT_DEBUG="1")
    assert "Traceback" in done.stderr


def test_uncaught_reports_of_plain_python_have_no_traceback(tmp_path: Path) -> None:
    script = tmp_path / "wrong.py"
    script.write_text("import tilewright.language as T\nT.Tensor((4,), 'flot32')\n")
    command = [sys.executable, script.name]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("wrong.py:2:1: error: unknown dtype 'flot32'; did you mean")
    assert "Traceback" not in done.stderr


def test_script_arguments_and_exit_status(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys\nprint(sys.argv[1:], __name__)\nsys.exit(3)\n")
    done = tw("run", str(script), "--", "--size", "5")
    assert done.stdout == "['--size', '5'] __main__\n"
    assert done.returncode == 3


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="torch is installed")
def test_stand_in_torch_names_what_it_lacks(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\nassert torch.cuda.is_available()\n"
        "print(torch.cuda.get_device_capability())\ntorch.randn(3)\n"
    )
    done = tw("run", script.name, cwd=tmp_path)
    assert done.stdout == "(8, 0)\n"
    assert done.returncode == 1
    assert done.stderr.startswith("script.py:4:1: error: 'torch.randn' is not part of the stand-in")


@pytest.mark.parametrize("name", ["tilelang.quantize", "tvm.relay"])
def test_modules_that_are_not_there_are_named(name: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"import {name}\n")
    done = tw("run", script.name, cwd=tmp_path)
    assert done.returncode == 1
    assert f"error: the module '{name}' is not supported yet" in done.stderr


def test_missing_file_is_a_usage_error() -> None:
    done = tw("run", "no_such_file.py")
    assert done.returncode == 2
    assert "no file 'no_such_file.py'" in done.stderr


def test_layout_is_shown_as_a_table() -> None:
    done = tw("layout", "(i, j) -> (i, j ^ i)", "4", "4")
    assert done.returncode == 0, done.stderr
    assert " 5  4  7  6" in done.stdout
    assert "injective: yes" in done.stdout
    wrong = tw("layout", "(i) -> (i // 2)", "4")
    assert "injective: no" in wrong.stdout


def test_dump_ir() -> None:
    done = tw("run", "examples/quickstart.py", "--dump-ir")
    assert "tile.kernel" in done.stdout
    assert "largest error" in done.stdout


def test_the_scripts_own_exceptions_keep_their_traceback(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("def f():\n    raise ValueError('mine')\nf()\n")
    done = tw("run", script.name, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith('Traceback (most recent call last):\n  File "script.py", line 3')
    assert done.stderr.endswith("ValueError: mine\n")


SMALL_SCRIPT = """
import numpy as np
import tilelang
import tilelang.language as T

@T.prim_func
def main(A: T.Tensor((10,), "float32"), B: T.Tensor((10,), "float32")):
    with T.Kernel(1):
        f = T.alloc_fragment((16,), "float32")
        T.copy(A[0:16], f)
        for i in T.Parallel(16):
            B[i] = T.exp(f[i]) * 3.0

tilelang.compile(main)(np.ones(10, np.float32), np.zeros(10, np.float32))
"""


def test_check_prints_notes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SMALL_SCRIPT)
    done = tw("run", script.name, "--check", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "script.py:10: note: " in done.stderr
    assert "[out_of_bounds]" in done.stderr


def test_bounds_prints_radii(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SMALL_SCRIPT)
    done = tw("run", script.name, "--bounds", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "'A': largest error radius 0.00e+00, 0 elements undecided" in done.stdout
    assert "'B': largest error radius " in done.stdout


LONG_SCRIPT = """
import numpy as np
import tilelang
import tilelang.language as T
from tilewright.cli import progress

progress.PATIENCE = 0.0

@T.prim_func
def main(A: T.Tensor((1,), "int32"), n: T.int32):
    with T.Kernel(8):
        k = T.alloc_var("int32")
        k = 0
        while k < n:
            k = k + 1
            A[0] = k

tilelang.compile(main)(np.zeros(1, np.int32), 1_000_000_000)
"""


def test_a_long_launch_shows_its_progress_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(LONG_SCRIPT)
    command = [sys.executable, "-m", "tilewright", "run", script.name]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    line = process.stderr.readline()
    assert line.startswith("kernel 'main', launch 1: ")
    assert " of 8 blocks (" in line
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "tw: interrupted"


def _path(folder: Path) -> str:
    return os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["run", "ok.py", "--device", "gpu9"],
            "tw: error: device 'gpu9' does not exist",
        ),
        (["run", "ok.py", "--arch", "sm_1"], "invalid choice: 'sm_1'"),
        (["compile", "ok.py", "-o", "no/such/folder"], "tw: error: cannot write 'no/such/folder'"),
        (["layout", "(i) -> (i)", "0"], "error: extents must be positive, got 0"),
        (["layout", "(i) -> (1 / 0)", "8"], "error: '1 / 0': division by zero"),
        (["layout", "(i) -> (i.nose)", "8"], "error: 'i.nose': "),
    ],
)
def test_nonsense_is_one_line(arguments: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "ok.py").write_text("pass\n")
    done = tw(*arguments, cwd=tmp_path)
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_version() -> None:
    assert tw("--version").stdout == f"tilewright {tilewright.__version__}\n"


def test_an_unknown_processor_is_refused() -> None:
    """It was taken for this machine: a misspelt 'avx2' tested nothing."""
    done = tw("run", "examples/quickstart.py", TILEWRIGHT_CPU="avx-2", TILEWRIGHT_DEVICE="cpu")
    assert done.returncode == 1
    assert "TILEWRIGHT_CPU is 'avx-2'; it can be 'avx2'" in done.stderr
