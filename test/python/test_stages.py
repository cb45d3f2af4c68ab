"""The way of a kernel to GPU code: its stages, its source lines, and ptxas at the end."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright import ptxas
from tilewright.findings import FindingsError
from tilewright.kernel import GPU_STAGES

needs_ptxas = pytest.mark.skipif(ptxas.find_ptxas() is None, reason="ptxas is not installed")


def make_kernel(device: str = "vgpu:sm_80"):
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((64,), "float32")
            for i in T.Parallel(64):
                s[i] = T.exp(A[i])  # first
            for i in T.Parallel(64):
                B[i] = s[63 - i]  # second

    return tilewright.compile(main, device=device)


def test_a_program_is_only_copied_for_a_setting_that_it_does_not_have() -> None:
    """A copy is a fifth of what the front end takes for the seed."""
    plain = make_kernel("interp")
    keep, change = ({"tl.enable_fast_math": on} for on in (False, True))
    assert tilewright.compile(plain.prim_func, pass_configs=keep).program is plain.program
    changed = tilewright.compile(plain.prim_func, pass_configs=change).program
    assert changed is not plain.program
    assert "fast_math" in changed.text() and "fast_math" not in plain.program.text()


def line_of(mark: str) -> int:
    """The line of this file that ends in a comment."""
    lines = Path(__file__).read_text().splitlines()
    return 1 + next(n for n, line in enumerate(lines) if line.endswith(f"# {mark}"))


# ---- Source lines ----


def test_counters_name_the_python_line() -> None:
    kernel = make_kernel()
    kernel(np.zeros(64, np.float32), np.zeros(64, np.float32))
    (launch,) = kernel.last_run["launches"]
    rows = json.loads(launch)["counters"]["lines"]
    places = {(row["opcode"].split(".")[0], row["source"]) for row in rows}
    first, second = (f"{__file__}:{line_of(mark)}" for mark in ("first", "second"))
    assert {("ld", first), ("st", first), ("ld", second), ("st", second)} <= places


def test_a_finding_names_the_python_line() -> None:
    from tilewright import vgpu

    ptx = make_kernel().ptx
    broken = "\n".join(line for line in ptx.splitlines() if "bar.sync" not in line)
    assert broken != ptx
    a, b = np.zeros(64, np.float32), np.zeros(64, np.float32)
    result = vgpu.launch(broken, "main_kernel", 1, 64, [a, b], shared_bytes=256)
    race = next(finding for finding in result.findings if finding.kind == "race")
    both = {race.source, race.data["other"]["source"]}
    assert both == {f"{__file__}:{line_of(mark)}" for mark in ("first", "second")}


def test_a_finding_of_a_run_is_shown_with_its_source() -> None:
    @T.prim_func
    def main(A: T.Tensor((32,), "float32")):
        with T.Kernel(1, threads=32):
            s = T.alloc_shared((32,), "float32")
            s[0] = 1.0
            for i in T.Parallel(32):
                A[i] = s[i]  # unwritten

    kernel = tilewright.compile(main, device="vgpu:sm_80")
    with pytest.raises(FindingsError, match=f":{line_of('unwritten')}:17: error: 'A'"):
        kernel(np.zeros(32, np.float32))


# ---- Stages ----

MARKS = {
    "tile": "tile.parallel",
    "layouts": "tile.distribution",
    "threads": "nvvm.read.ptx.sreg.tid.x",
    "nvvm": "llvm.func",
    "llvm": "define ptx_kernel void",
    "ptx": ".visible .entry",
}


@pytest.mark.parametrize("stage", GPU_STAGES)
def test_every_stage_can_be_printed(stage: str) -> None:
    text = make_kernel("cpu").ir(stage, "sm_90")
    assert MARKS[stage] in text
    if stage == "ptx":
        assert ".target sm_90" in text
        assert ".address_size 64" in text
        assert ".maxntid 64" in text


def test_an_unknown_stage_lists_the_known_ones() -> None:
    with pytest.raises(tilewright.TilewrightError, match=r"no stage 'sass'; .*tile, layouts"):
        make_kernel().ir("sass")


def run_tw(*arguments: str, cwd: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "tilewright", *arguments], capture_output=True, text=True, cwd=cwd
    )


SCRIPT = (
    """
import tilewright
import tilewright.language as T

"""
    + inspect.getsource(make_kernel)
    + """
make_kernel("cpu")
"""
)


@pytest.mark.parametrize("stage", GPU_STAGES)
def test_tw_compile_emits(stage: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    run = run_tw("compile", "script.py", "--arch", "sm_90", "--emit", stage, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert MARKS[stage] in run.stdout


@needs_ptxas
def test_tw_compile_writes_a_cubin(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    run = run_tw("compile", "script.py", "--emit", "cubin", "-o", "k.cubin", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "k.cubin").read_bytes()[:4] == b"\x7fELF"
    assert run.stdout.startswith("k.cubin: sm_80, 256 bytes of shared memory, ")


# ---- ptxas ----


@needs_ptxas
def test_the_summary_has_the_figures_of_ptxas() -> None:
    kernel = make_kernel()
    assert kernel.cubin()[:4] == b"\x7fELF"
    (launch,) = kernel.summary()["kernels"]
    assert launch["gpu"]["shared_bytes"] == 256
    assert 0 < launch["gpu"]["registers"] <= 64
    assert launch["gpu"]["spill_store_bytes"] == 0
    assert not [remark for remark in kernel.remarks if remark.kind == "spill"]


def test_without_ptxas_a_cubin_says_where_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_PTXAS", "none")
    kernel = make_kernel()
    with pytest.raises(
        tilewright.TilewrightError, match="none was found; install the CUDA toolkit"
    ):
        kernel.cubin()
    (launch,) = kernel.summary()["kernels"]
    assert launch["gpu"] == {"arch": "sm_80", "shared_bytes": 256}


def fake_ptxas(folder: Path, words: str) -> str:
    """An assembler that refuses everything with `words`."""
    script = folder / "ptxas"
    script.write_text(f"#!/bin/sh\ncat <<'WORDS' >&2\n{words}\nWORDS\nexit 255\n")
    script.chmod(0o755)
    return str(script)


def test_a_failure_of_ptxas_stands_next_to_the_python_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kernel = make_kernel()
    lines = kernel.ptx.splitlines()
    number = next(n for n, line in enumerate(lines, 1) if "fma.rn.f32" in line)
    words = f"ptxas kernel.ptx, line {number}; error   : Illegal modifier\nptxas fatal   : aborted"
    monkeypatch.setenv("TILEWRIGHT_PTXAS", fake_ptxas(tmp_path, words))
    with pytest.raises(tilewright.TilewrightError) as caught:
        kernel.cubin()
    error = caught.value
    assert error.kind == "internal error"
    assert error.location == (__file__, line_of("first"), 0, 0, 0)
    assert error.message == (
        f"ptxas refuses the generated code: Illegal modifier: '{lines[number - 1].strip()}'; this "
        "is our bug, please report it with 'kernel.ptx'"
    )
    assert str(error).splitlines()[1].endswith("# first")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("ptxas kernel.ptx, line 99999; error : too far", "code: too far; this is our bug"),
        ("ptxas fatal : Memory allocation failure", "code: ptxas fatal : Memory allocation"),
        ("", "code: no message; this is our bug"),
    ],
)
def test_a_failure_of_ptxas_without_a_line(
    words: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TILEWRIGHT_PTXAS", fake_ptxas(tmp_path, words))
    with pytest.raises(tilewright.TilewrightError, match=message) as caught:
        make_kernel().cubin()
    assert caught.value.kind == "internal error"


def test_a_ptxas_that_cannot_be_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "ptxas"
    script.write_bytes(b"\x7fELF of another machine")
    script.chmod(0o755)
    monkeypatch.setenv("TILEWRIGHT_PTXAS", str(script))
    with pytest.raises(tilewright.TilewrightError, match="ptxas' cannot be run: Exec format"):
        make_kernel().cubin()


@needs_ptxas
def test_a_refusal_of_ptxas_names_the_python_line() -> None:
    ptx = make_kernel().ptx
    assert "ex2" not in ptx
    broken = ptx.replace("fma.rn.f32", "fma.rn.f31", 1)
    with pytest.raises(tilewright.TilewrightError) as caught:
        ptxas.assemble(broken, "sm_80")
    assert caught.value.location == (__file__, line_of("first"), 0, 0, 0)
    assert "internal error: ptxas refuses the generated code" in str(caught.value)


def test_spills_are_read_from_the_assemblers_report(monkeypatch: pytest.MonkeyPatch) -> None:
    report = """
ptxas info    : Compiling entry function 'main_kernel' for 'sm_80'
ptxas info    : Function properties for main_kernel
    40 bytes stack frame, 36 bytes spill stores, 44 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 1024 bytes smem, 384 bytes cmem[0]
"""
    usage = ptxas.read_usage(report)
    assert usage == {"main_kernel": ptxas.Usage(255, 40, 36, 44, 1024)}
    monkeypatch.setattr("tilewright.ptxas.assemble", lambda *_: ptxas.Cubin(b"", usage))
    kernel = make_kernel()
    kernel.cubin()
    (remark,) = [remark for remark in kernel.remarks if remark.kind == "spill"]
    assert "spills for sm_80: 255 registers, 36 bytes of spill stores" in remark.message
