"""Compiled code kept on disk: found again, never stale, never in the way."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SCRIPT = """
import json, resource, sys
import numpy as np
import tilewright
import tilewright.language as T
from tilewright._core import core

{before}

@T.prim_func
def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(2, threads=32) as block:
        for i in T.Parallel(32):
            B[block * 32 + i] = A[block * 32 + i] * {factor}

kernel = tilewright.compile(main)
a, b = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
kernel(a, b)
np.testing.assert_array_equal(b, a * {factor})
print(json.dumps([kernel._kernel.code()["from_cache"], core.cache_status()["damaged"],
                  [r.message for r in kernel.remarks if r.kind == "cache"]]))
"""


def start(folder: Path, factor: float = 3.0, before: str = "", **environment: str):
    """Starts a process that compiles a kernel, calls it and checks its result."""
    file = folder / f"script_{factor}.py"
    file.write_text(textwrap.dedent(SCRIPT).format(factor=factor, before=before))
    return subprocess.Popen(
        [sys.executable, str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TILEWRIGHT_CACHE_DIR": str(folder / "cache"), **environment},
    )


def run(folder: Path, *arguments, **options) -> tuple[bool, int, list[str]]:
    """What the process found: whether code came from the cache, damaged files, remarks."""
    process = start(folder, *arguments, **options)
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    import json

    return tuple(json.loads(out))


def entries(folder: Path) -> list[Path]:
    return sorted((folder / "cache").glob("cpu-*"))


def test_the_next_process_finds_the_code(tmp_path: Path) -> None:
    assert run(tmp_path) == (False, 0, [])
    assert run(tmp_path) == (True, 0, [])


def test_another_program_has_an_entry_of_its_own(tmp_path: Path) -> None:
    run(tmp_path)
    assert run(tmp_path, 4.0)[0] is False
    assert len(entries(tmp_path)) == 2
    assert run(tmp_path)[0] is True


@pytest.mark.skipif(
    "avx512f" not in Path("/proc/cpuinfo").read_text(), reason="the host's own code is AVX2 code"
)
def test_another_processor_has_an_entry_of_its_own(tmp_path: Path) -> None:
    run(tmp_path)
    assert run(tmp_path, TILEWRIGHT_CPU="avx2")[0] is False
    assert len(entries(tmp_path)) == 2
    assert run(tmp_path)[0] is True
    assert run(tmp_path, TILEWRIGHT_CPU="avx2")[0] is True


def test_a_moved_line_is_another_program(tmp_path: Path) -> None:
    """Messages of compiled code name lines."""
    run(tmp_path)
    assert run(tmp_path, before="# one more line\n")[0] is False


@pytest.mark.parametrize("damage", ["torn", "flipped", "empty", "foreign"])
def test_a_damaged_file_is_compiled_again(tmp_path: Path, damage: str) -> None:
    run(tmp_path)
    [entry] = entries(tmp_path)
    data = bytearray(entry.read_bytes())
    data[len(data) // 2] ^= 1
    replaced = {"torn": entry.read_bytes()[:-7], "flipped": bytes(data), "empty": b"",
                "foreign": b"something else"}  # fmt: skip
    entry.write_bytes(replaced[damage])
    assert run(tmp_path) == (False, 1, [])
    assert run(tmp_path) == (True, 0, [])


def test_many_processes_compile_the_same_kernel(tmp_path: Path) -> None:
    processes = [start(tmp_path) for _ in range(4)]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    assert len(entries(tmp_path)) == 1
    assert run(tmp_path)[0] is True


def test_a_directory_that_cannot_be_made_is_a_remark(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found, _, remarks = run(tmp_path, TILEWRIGHT_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert found is False
    [remark] = remarks
    assert "nothing is kept in the cache directory" in remark


def test_a_full_disk_is_a_remark(tmp_path: Path) -> None:
    """Here a file may not grow beyond 100 bytes; no half-written file is left."""
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    found, _, remarks = run(tmp_path, before=limit)
    assert found is False
    assert "File too large" in remarks[0]
    assert list((tmp_path / "cache").iterdir()) == []


def test_the_cache_is_bounded(tmp_path: Path) -> None:
    for factor in range(2):
        run(tmp_path, float(factor), TILEWRIGHT_CACHE_MB="0")
    assert entries(tmp_path) == []


def test_the_cache_can_be_switched_off(tmp_path: Path) -> None:
    run(tmp_path, TILEWRIGHT_CACHE="0")
    run(tmp_path, before="tilewright.disable_cache()")
    assert not (tmp_path / "cache").exists()


# ---- GPU code ----

GPU_SCRIPT = """
import json
import numpy as np
import tilewright
import tilewright.language as T

@T.prim_func
def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=64):
        tile = T.alloc_shared((64, 64), "float16")
        T.copy(A, tile)
        for i, j in T.Parallel(64, 64):
            B[i, j] = tile[i, j] * 2

kernel = tilewright.compile(main, target={target!r})
a, b = np.ones((64, 64), np.float16), np.zeros((64, 64), np.float32)
kernel(a, b)
np.testing.assert_array_equal(b, a * np.float32(2))
print(json.dumps(["load" in kernel.seconds, kernel.ptx, kernel.remarks]))
"""


def run_gpu(folder: Path, target: str = "sm_80", **environment: str) -> list:
    """Whether the PTX was found on disk, the PTX, and the decisions."""
    import json

    file = folder / "gpu.py"
    file.write_text(GPU_SCRIPT.format(target=target))
    environment = {
        "TILEWRIGHT_CACHE_DIR": str(folder / "cache"),
        "TILEWRIGHT_CHECK_PLANS": "0",
        **environment,
    }
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_next_process_finds_ptx_and_decisions(tmp_path: Path) -> None:
    first, second = run_gpu(tmp_path), run_gpu(tmp_path)
    assert first[0] is False
    assert second[0] is True
    assert second[1:] == first[1:]
    assert {remark[3] for remark in second[2]} == {"access", "device"}


def test_ptx_of_another_architecture_has_an_entry_of_its_own(tmp_path: Path) -> None:
    run_gpu(tmp_path)
    assert run_gpu(tmp_path, "sm_90")[0] is False
    assert len(list((tmp_path / "cache").glob("ptx-*"))) == 2


def test_damaged_ptx_is_compiled_again(tmp_path: Path) -> None:
    _, ptx, _ = run_gpu(tmp_path)
    [entry] = (tmp_path / "cache").glob("ptx-*")
    entry.write_bytes(entry.read_bytes().replace(b"2.0", b"3.0")[:-1])
    found, again, _ = run_gpu(tmp_path)
    assert found is False
    assert again == ptx


def test_checks_of_plans_are_not_skipped_for_code_on_disk(tmp_path: Path) -> None:
    run_gpu(tmp_path)
    assert run_gpu(tmp_path, TILEWRIGHT_CHECK_PLANS="1")[0] is False
