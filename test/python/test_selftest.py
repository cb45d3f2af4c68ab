"""`tw selftest`, on the stand-in for a GPU's driver (test/lib/FakeCuda) and on virtual GPUs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tilewright._core import core
from tilewright.cli.commands import main

ROOT = Path(__file__).resolve().parents[2]
DRIVER = Path(core.__file__).parents[1] / "lib" / "libTwFakeCuda.so"

WRONG = """
import tilelang
import tilelang.language as T
import numpy as np

EXPECT, OUT, TOLERANCE, ARCHS = "ok", "return", 0, ["interp", "sm_80"]

def kernel():
    @T.prim_func
    def main(A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(64):
                B[i] = A[i] + 1
    return tilelang.compile(main, out_idx=[1])

def inputs(generator):
    return [generator.integers(0, 9, 64).astype(np.int32)]

def reference(a):
    return (a + 2,)
"""


def selftest(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "tilewright", "selftest", *arguments],
        capture_output=True, text=True, timeout=600, check=False, env={**os.environ, **environment},
    )  # fmt: skip


def test_one_command_tries_a_gpu_and_writes_one_file(tmp_path: Path) -> None:
    """Each part runs on the GPU, in few programs; the file has what we need to know of it."""
    path = tmp_path / "selftest.json"
    done = selftest("--quick", "-o", str(path), "--root", str(ROOT),
                    TILEWRIGHT_LIBCUDA=str(DRIVER), TILEWRIGHT_FAKE_GPUS="9.0")  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    data = json.loads(path.read_text())
    assert (data["device"], data["arch"], data["gpu"]) == ("cuda:0", "sm_90a", "virtual GPU 0")
    parts = {result["part"] for result in data["results"]}
    assert parts == {"corpus", "seed", "examples", "random", "times"}
    assert data["summary"]["right"] >= 25
    assert set(data["summary"]) <= {"right", "timed", "skipped"}
    times = [result for result in data["results"] if result["part"] == "times"]
    assert len(times) == data["summary"]["timed"] == 7
    for result in times:
        assert result["machine"] == "H100 SXM"
        assert result["measured_ms"] > 0
        assert result["predicted_ms"] > 0.001
    assert "measured  predicted" in done.stdout
    assert f"wrote '{path}'" in done.stdout


def test_what_is_wrong_is_in_the_file_and_in_the_status(tmp_path: Path) -> None:
    corpus = tmp_path / "test" / "programs" / "corpus"
    corpus.mkdir(parents=True)
    (corpus / "wrong.py").write_text(WRONG)
    (corpus / "crash.py").write_text("import os\nos._exit(7)\n")
    path = tmp_path / "selftest.json"
    done = selftest("--part", "corpus", "--root", str(tmp_path), "--device", "vgpu:sm_80",
                    "-o", str(path), "--quiet")  # fmt: skip
    assert done.returncode == 1
    found = {Path(r["name"]).stem: r for r in json.loads(path.read_text())["results"]}
    assert found["wrong"]["status"] == "wrong"
    assert "differ from the file's reference" in found["wrong"]["message"]
    assert found["crash"]["status"] == "crash"
    assert "ended with 7" in found["crash"]["message"]


def test_without_the_repository_times_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr("tilewright.cli.selftest.TIMES", (("add", {}, {"n": 1024}),))
    path = tmp_path / "selftest.json"
    arguments = ["--quick", "--root", str(tmp_path), "--device", "vgpu:sm_80", "-o", str(path)]
    assert main(["selftest", *arguments]) == 0
    data = json.loads(path.read_text())
    assert data["summary"] == {"skipped": 4, "timed": 1}
    assert not data["repository"]
    assert "name it with --root" in capsys.readouterr().out


def test_a_gpu_that_is_not_there_is_named(capsys: pytest.CaptureFixture) -> None:
    assert main(["selftest", "--device", "cuda:0"]) == 2
    assert "device 'cuda:0'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["selftest", "--part", "corpse"])
    assert "'corpse' is none of corpus, seed" in capsys.readouterr().err
