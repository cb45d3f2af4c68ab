"""Kernels written in C++ (tilewright/builder.h): they run, and equal those that Python traces."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import tilewright
import tilewright.language as T
from test_cpp_api import LIBRARY, ROOT, needs_library
from tilewright.compat import imports

EXAMPLES = ROOT / "examples"


def of_script(path: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / path))


def dynamic_matmul() -> Any:
    m, n, k = T.dynamic("m"), T.dynamic("n"), T.dynamic("k")
    return of_script("matmul.py")["matmul"](m, n, k, 64, 64, 32, 2)


def seed() -> Any:
    imports.install()
    script = of_script("seed/flash_attention_backward.py")
    with mock.patch.dict(os.environ, {"TILEWRIGHT_DEVICE": "vgpu:sm_80"}):
        return script["flashattn_bwd"](batch=1, heads=4, seq_len=256, dim=64, groups=2)


#: The kernels of cpp_kernels.h, as Python has them.
TWINS: dict[str, Callable[[], Any]] = {
    "matmul": lambda: tilewright.compile(of_script("matmul.py")["matmul"](256, 256, 128)),
    "dynamic": lambda: tilewright.compile(dynamic_matmul()),
    "softmax": lambda: of_script("softmax.py")["softmax"](30, 256),
    "forward": lambda: of_script("seed/attention_forward.py")["attention_forward"](
        1, 4, 256, 64, 2
    ),
    "backward": seed,
}

#: Ops without effects. Their order is that in which a compiler of C++ evaluates arguments.
_PURE = re.compile(r"(%\w+) = ((?:arith|math|tile\.(?:cast|floordiv|floormod|slice|load))\b.*)")


def without_order(text: str) -> list[str]:
    """The statements of a program, in order, with the expressions that they use written out.

    A read says after how many statements it comes.
    """
    values: dict[str, str] = {}
    statements: list[str] = []

    def written_out(line: str) -> str:
        return re.sub(r"%\w+", lambda name: values.get(name.group(), name.group()), line)

    for line in text.splitlines():
        if pure := _PURE.fullmatch(line.strip()):
            is_read = pure[2].startswith("tile.load")
            place = f"@{len(statements)} " if is_read else ""
            values[pure[1]] = f"({place}{written_out(pure[2])})"
        else:
            statements.append(written_out(line))
    return statements


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """cpp_builder.cpp, built without headers of LLVM."""
    program = tmp_path_factory.mktemp("builder") / "cpp_builder"
    build = [
        "g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}",
        str(Path(__file__).with_name("cpp_builder.cpp")), "-o", str(program),
        f"-L{LIBRARY.parent}", "-ltilewright", f"-Wl,-rpath,{LIBRARY.parent}",
    ]  # fmt: skip
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return program


@needs_library
def test_kernels_run_and_mistakes_are_values(program: Path) -> None:
    done = subprocess.run([program, "run"], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("good\n", 0), done.stderr


@needs_library
@pytest.mark.parametrize("name", TWINS)
def test_tile_ir_is_that_of_the_python_twin(program: Path, name: str) -> None:
    done = subprocess.run([program, name], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert without_order(done.stdout) == without_order(TWINS[name]().program.text())
