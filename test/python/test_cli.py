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
from tilewright.device import ARCHS

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
    for command in (
        "report-diff    tell what",
        "completion     print a script",
        "run            run an",
    ):
        assert f"    {command}" in done.stdout  # a line for each


def test_seed_script_runs_unmodified() -> None:
    done = tw("run", "-v", str(SEED.relative_to(ROOT)))
    assert done.returncode == 0, done.stderr
    assert "kernel 'flash_bwd' (examples/seed/flash_attention_backward.py:" in done.stderr
    assert "grid 64 x 64 x 1, threads 128" in done.stderr
    assert "dv_shared" in done.stderr
    assert "trace " in done.stderr


def test_seed_script_asks_for_the_architecture() -> None:
    done = tw("run", str(SEED), "--arch", "sm_90")
    assert done.returncode == 0, done.stderr
    assert "grid 64 x 32 x 1, threads 256" in done.stderr


def test_words_of_the_script_go_after_two_dashes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys\nprint(sys.argv[1:])\n")
    done = tw("run", str(script), "--batch", "8")
    assert done.returncode == 2
    assert f"takes its own after '--': tw run {script} -- --batch 8)" in done.stderr
    assert tw("run", "-q", str(script), "--", "--batch", "8").stdout == "['--batch', '8']\n"


def test_compile_prints_the_ir() -> None:
    call = ("--call", "matmul_relu(64, 64, 64)")
    done = tw("compile", "examples/quickstart.py", "--emit", "tile", *call)
    assert done.returncode == 0, done.stderr
    assert "tile.gemm" in done.stdout
    needs = tw("compile", "examples/quickstart.py")
    assert needs.returncode == 1
    assert "outside its '__main__' part; name one with --call 'matmul_relu(M, N, K" in needs.stderr


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


def test_queries_answer_for_the_device_that_runs_kernels(tmp_path: Path) -> None:
    """A script that asks for the capability sees that of the device."""
    script = tmp_path / "script.py"
    script.write_text(
        "import tilelang, tilelang.testing\nfrom tilelang.contrib import nvcc\n"
        "@tilelang.testing.requires_cuda_compute_version_ge(9, 0)\ndef test(): pass\n"
        "print(nvcc.get_target_compute_version(), hasattr(test, 'pytestmark'))\n"
    )
    for options, said in (
        ((), "8.0 True\n"),
        (("--device", "vgpu:sm_90a"), "9.0 False\n"),
        (("--device", "vgpu:sm_120"), "12.0 False\n"),
        (("--device", "vgpu:sm_90a", "--arch", "sm_86"), "8.6 True\n"),
        (("--device", "interp"), "8.0 True\n"),
    ):
        assert tw("run", *options, script.name, cwd=tmp_path).stdout == said


@pytest.mark.parametrize("name", ["tilelang.primitives", "tvm.relay"])
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
    assert wrong.returncode == 1, "a check failed"


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["(i, j) -> (i, j ^ 8 * (i % 8))", "8", "64"], "physical shape 8 x 64"),
        (["(i, j) -> (j % 2, i, j // 2)", "4", "4"], "physical shape 2 x 4 x 2"),
        (["(i, j)[n] -> (i * n + j)", "4", "8", "n=8"], "injective: yes"),
        (["(i, j) -> thread 4 * (i % 8) + j // 2, slot 2 * (i // 8) + j % 2", "16", "8"], "T31:3"),
        (["(i) rep r of 4 -> thread 4 * (i % 8) + r, slot i // 8", "16"], "4 replicas"),
    ],
)
def test_layouts_in_the_notation_of_the_documentation(arguments: list[str], shown: str) -> None:
    done = tw("layout", *arguments)
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout


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


def test_the_choice_of_a_device_ends_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kernels that the same process compiled afterwards were for the command's device."""
    from tilewright.cli.commands import main

    monkeypatch.delenv("TILEWRIGHT_DEVICE", raising=False)
    monkeypatch.setenv("TILEWRIGHT_ARCH", "sm_80")
    script = tmp_path / "script.py"
    script.write_text("import os\nassert os.environ['TILEWRIGHT_DEVICE'] == 'vgpu:sm_90'\n")
    assert main(["run", str(script), "--device", "vgpu:sm_90"]) == 0
    assert "TILEWRIGHT_DEVICE" not in os.environ
    assert main(["compile", str(script), "--arch", "sm_90"]) != 0
    assert os.environ["TILEWRIGHT_ARCH"] == "sm_80"


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
    assert "'A': largest error radius 0.00e+00, 0 elements undecided" in done.stderr
    assert "'B': largest error radius " in done.stderr


LONG_SCRIPT = """
import numpy as np
import tilelang
import tilelang.language as T
from tilewright.runtime import progress

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
        (["compile", "ok.py"], "error: 'ok.py' compiles no kernel outside its '__main__' part"),
        (["layout", "(i) -> (i)", "0"], "error: extents must be positive, got 0"),
        (["layout", "(i) -> (1 / 0)", "8"], "error: "),
        (["layout", "(i) -> (i.nose)", "8"], "error: "),
        (["layout", "(i)[n] -> (i * n)", "8"], "error: the symbol 'n' has no value; add n=8"),
        (["run", "ok.py", "--check", "--device", "cpu"], "the device 'cpu' (--device) watches"),
        (["run", "ok.py", "--bounds", "--device", "vgpu:sm_80"], "only the interpreter carries"),
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


# ---- Findings, checks, loading without running ----

WRONG_SCRIPT = """
import numpy as np
import tilelang
import tilelang.language as T

print("the script prints")

@T.prim_func
def main(A: T.Tensor((8,), "int32"), unused: T.Tensor((8,), "int32")):
    with T.Kernel(2, threads=32) as bx:
        if A[1 + bx] == 0:
            A[0] = bx  # a race

tilelang.compile(main)(np.zeros(8, np.int32), np.zeros(8, np.int32))
if __name__ == "__main__":
    print("the main part")
"""


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """A folder with a script whose kernel has a race."""
    (tmp_path / "wrong.py").write_text(WRONG_SCRIPT)
    return tmp_path


@pytest.mark.parametrize("device", ["interp", "vgpu:sm_80"])
def test_a_finding_is_one_error_and_an_exit_status(wrong: Path, device: str) -> None:
    done = tw("run", "wrong.py", "--check", "--device", device, cwd=wrong)
    assert done.returncode == 1
    assert done.stderr.startswith("wrong.py:12:13: error: ")
    assert done.stderr.count("error: ") == 1
    assert "[race]" in done.stderr


def test_a_finding_that_the_script_catches_still_is_an_exit_status(wrong: Path) -> None:
    text = (wrong / "wrong.py").read_text()
    call = next(line for line in text.splitlines() if line.startswith("tilelang.compile"))
    caught = f"try:\n    {call}\nexcept Exception:\n    pass"
    (wrong / "caught.py").write_text(text.replace(call, caught))
    done = tw("run", "caught.py", "--check", cwd=wrong)
    assert done.returncode == 1
    assert done.stderr.endswith("tw: error: the checks found 1 defect(s)\n")


def test_check_finds_it_without_running_the_main_part(wrong: Path) -> None:
    done = tw("check", "wrong.py", "--arch", "sm_80", cwd=wrong)
    assert done.returncode == 1
    assert "wrong.py:12:13: error: " in done.stdout
    assert "warning: parameter 'unused' of 'main' is never used" in done.stdout
    assert "the script prints" in done.stderr
    assert "the main part" not in done.stdout + done.stderr
    assert done.stderr.endswith("tw: 1 kernel compiled and run: 1 error, 1 warning, 0 notes\n")


def test_check_for_programs(wrong: Path) -> None:
    import json

    data = json.loads(tw("check", "wrong.py", "--format", "json", "--static", cwd=wrong).stdout)
    (problem,) = data["problems"]
    assert (problem["level"], problem["rule"], problem["file"]) == ("warning", "unused", "wrong.py")
    arguments = ("--arch", "sm_80", "--format", "sarif", "-q", "-o", "log.sarif")
    done = tw("check", "wrong.py", *arguments, cwd=wrong)
    assert (done.returncode, done.stdout) == (1, "")
    log = json.loads((wrong / "log.sarif").read_text())
    assert log["version"] == "2.1.0"
    levels = {result["ruleId"]: result["level"] for result in log["runs"][0]["results"]}
    assert levels == {"unused": "warning", "race": "error"}
    place = log["runs"][0]["results"][-1]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "wrong.py"
    assert place["region"]["startLine"] == 12


def test_check_of_a_wrong_program_is_an_error_and_of_no_program_a_failure(tmp_path: Path) -> None:
    done = tw("check", "break_in_parallel.py", cwd=ROOT / "test" / "python" / "bad_input")
    assert done.returncode == 1
    assert done.stdout.startswith("break_in_parallel.py:11:17: error: 'break' inside T.Parallel")
    (tmp_path / "ok.py").write_text("pass\n")
    assert tw("check", "ok.py", cwd=tmp_path).returncode == 2
    assert tw("check", "none.py", cwd=tmp_path).returncode == 2


def test_compile_prints_only_code_and_runs_nothing(wrong: Path) -> None:
    done = tw("compile", "wrong.py", cwd=wrong)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("module {")
    assert "prints" not in done.stdout
    assert "the main part" not in done.stderr


def test_a_closed_pipe_is_no_error(wrong: Path) -> None:
    command = [sys.executable, "-m", "tilewright", "compile", "wrong.py", "--emit", "ptx"]
    process = subprocess.Popen(
        command, cwd=wrong, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.close()
    errors = process.stderr.read()
    assert process.wait(timeout=60) == 0, errors
    assert "Error" not in errors


# ---- Comfort ----


def test_tw_alone_shows_help_with_examples() -> None:
    done = tw()
    assert done.returncode == 0
    assert "tw check script.py" in done.stdout


def test_quiet_says_nothing_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SMALL_SCRIPT)
    done = tw("run", "-q", "script.py", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_colour_where_it_is_wanted(wrong: Path) -> None:
    plain = tw("check", "none.py", cwd=wrong).stderr
    assert plain == "tw: error: no file 'none.py'\n"
    coloured = tw("check", "none.py", cwd=wrong, FORCE_COLOR="1").stderr
    assert coloured == "\x1b[1mtw: \x1b[0m\x1b[1;31merror:\x1b[0m no file 'none.py'\n"
    assert tw("check", "none.py", cwd=wrong, FORCE_COLOR="1", NO_COLOR="1").stderr == plain


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_commands_and_options(shell: str) -> None:
    script = tw("completion", shell).stdout
    for word in ("run", "compile", "check", "sm_90a", "vgpu:sm_80", "sarif"):
        assert word in script


def test_completion_works_in_bash() -> None:
    script = tw("completion", "bash").stdout
    ask = 'COMP_WORDS=(tw run x.py --device vg); COMP_CWORD=4; _tw; echo "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [f"vgpu:{arch}" for arch in ARCHS]


@pytest.mark.parametrize("name", ["quickstart", "matmul"])
def test_examples_run_with_plain_python(name: str) -> None:
    command = [sys.executable, f"examples/{name}.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    assert "largest error" in done.stdout


def test_a_long_wait_is_told(tmp_path: Path) -> None:
    """Compilation, verification and launches on the interpreter say what is going on."""
    script = tmp_path / "script.py"
    patience = "from tilewright.support import waiting\nwaiting.PATIENCE = 0.001\n"
    script.write_text(patience + SMALL_SCRIPT)
    cache = str(tmp_path / "cache")
    arguments = ("run", script.name, "--device", "vgpu:sm_80")
    done = tw(*arguments, cwd=tmp_path, TILEWRIGHT_CACHE_DIR=cache)
    assert done.returncode == 0, done.stderr
    assert "compile 'main' for sm_80, 0 s" in done.stderr


def test_check_takes_the_first_configuration_of_a_tuned_kernel(tmp_path: Path) -> None:
    """Nothing runs, so that no candidate can be compared or timed."""
    script = tmp_path / "tuned.py"
    script.write_text(
        "import tilewright, tilewright.language as T\n"
        "@tilewright.autotune(configs=[{'block': 32}, {'block': 64}], ref_prog=lambda a: a + 1)\n"
        "@tilewright.jit(out_idx=[-1])\n"
        "def add_one(n, block=32):\n"
        "    @T.prim_func\n"
        "    def main(A: T.Tensor((n,), 'float32'), B: T.Tensor((n,), 'float32')):\n"
        "        with T.Kernel(T.ceildiv(n, block), threads=32) as bx:\n"
        "            for i in T.Parallel(block):\n"
        "                B[bx * block + i] = A[bx * block + i] + 1.0\n"
        "    return main\n"
        "if __name__ == '__main__':\n"
        "    kernel = add_one(100)\n"
        "    print(kernel.config, f'{kernel.latency:.1f} ms')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "tilewright", "check", str(script), "--main"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "{'block': 32} nan ms" in done.stderr
    assert "differ" not in done.stderr
