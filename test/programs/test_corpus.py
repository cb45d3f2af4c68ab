"""Each file of corpus/ is one bug of another compiler, as a program with its contract.

The contract is in corpus/README.md. Every engine runs every program that names it in ARCHS.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tilewright
from tilewright.ptxas import find_ptxas

CORPUS = Path(__file__).parent / "corpus"
#: Each engine: the name in a file's ARCHS that covers it, and the device that runs it.
ENGINES = {
    "interp": ("interp", "interp"),
    "cpu": ("interp", "cpu"),
    "cpu-avx2": ("interp", "cpu"),  # without AVX-512, where the processor has it
    "sm_80": ("sm_80", "vgpu:sm_80"),
    "sm_90": ("sm_90a", "vgpu:sm_90"),
    "sm_90a": ("sm_90a", "vgpu:sm_90a"),
}


def load(path: Path):
    """The corpus file as a module."""
    spec = importlib.util.spec_from_file_location(f"corpus_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def programs() -> list:
    """One test parameter for each file and each engine it applies to."""
    found = []
    for path in sorted(CORPUS.glob("*.py")):
        text = path.read_text()
        for engine, (arch, _) in ENGINES.items():
            if f'"{arch}"' in text:
                found.append(pytest.param(path, engine, id=f"{path.stem}-{engine}"))
    return found


def run(module, kernel) -> tuple:
    """The arrays that OUT names, after a call."""
    inputs = module.inputs(np.random.default_rng(0))
    returned = kernel(*inputs)
    if module.OUT == "return":
        return tuple(returned) if isinstance(returned, list | tuple) else (returned,)
    return tuple(inputs[position] for position in module.OUT)


def check_values(module, results: tuple) -> None:
    """Compares with the file's own reference."""
    expected = module.reference(*module.inputs(np.random.default_rng(0)))
    assert len(results) == len(expected)
    for got, want in zip(results, expected, strict=True):
        want = np.asarray(want)
        assert got.shape == want.shape
        if module.TOLERANCE == 0:
            np.testing.assert_array_equal(got, want.astype(got.dtype))
        else:
            rtol, atol = module.TOLERANCE
            np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)


def check_error(module, error: tilewright.TilewrightError, stage: str) -> None:
    """A rejection must come at the right stage and say what is wrong."""
    assert error.kind == "error"
    assert stage == module.STAGE
    assert any(part.lower() in str(error).lower() for part in module.ERROR_CONTAINS), str(error)


@pytest.mark.parametrize(("path", "engine"), programs())
def test_program(path: Path, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arch, device = ENGINES[engine]
    monkeypatch.setenv("TILEWRIGHT_DEVICE", device)
    if engine == "cpu-avx2":
        monkeypatch.setenv("TILEWRIGHT_CPU", "avx2")
    module = load(path)
    if getattr(module, "LARGE", False) and engine not in ("interp", "cpu"):
        pytest.skip("this one needs gigabytes, and the virtual GPU copies its arguments")
    try:
        kernel = module.kernel()
    except tilewright.TilewrightError as error:
        assert module.EXPECT != "ok", str(error)
        return check_error(module, error, "compile")
    try:
        results = run(module, kernel)
    except tilewright.TilewrightError as error:
        assert module.EXPECT != "ok", str(error)
        return check_error(module, error, "call")
    assert module.EXPECT != "error", "the program must be rejected"
    check_values(module, results)
    assert not [f for f in kernel.findings if f["severity"] != "note"]
    check_code(module, kernel, arch)
    return None


def check_code(module, kernel, arch: str) -> None:
    """The forms that a file demands or forbids in generated code."""
    for where, rule, pattern in getattr(module, "CODE_CHECKS", ()):
        if where == arch and arch != "interp":
            assert (re.search(pattern, kernel.ptx) is not None) == (rule == "must"), pattern


@pytest.mark.skipif(find_ptxas() is None, reason="ptxas is not installed")
@pytest.mark.parametrize(
    ("path", "engine"), [p for p in programs() if ENGINES[p.values[1]][1].startswith("vgpu:")]
)
def test_ptxas_accepts_program(path: Path, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_DEVICE", ENGINES[engine][1])
    module = load(path)
    try:
        kernel = module.kernel()
    except tilewright.TilewrightError:
        assert module.EXPECT != "ok"
        return
    if not hasattr(kernel, "cubin"):
        pytest.skip("an eager function has no code before it is called")
    assert kernel.cubin().startswith(b"\x7fELF")


PRINT_IR = """
import sys
from tilewright.compat import imports
imports.install()
sys.path.insert(0, sys.argv[1])
from test_corpus import load, Path
print(load(Path(sys.argv[2])).kernel().ir())
"""


@pytest.mark.parametrize(
    "path", [p for p in sorted(CORPUS.glob("*.py")) if "REPEAT_COMPILE" in p.read_text()],
    ids=lambda path: path.stem,
)  # fmt: skip
def test_program_compiles_alike_in_fresh_processes(path: Path) -> None:
    texts = set()
    for _ in range(load(path).REPEAT_COMPILE):
        command = [sys.executable, "-c", PRINT_IR, str(Path(__file__).parent), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        texts.add(done.stdout)
    assert len(texts) == 1


def test_every_file_of_the_corpus_is_run() -> None:
    files = list(CORPUS.glob("*.py"))
    assert len(files) == 82
    by_interpreter = [p for p in programs() if p.values[1] == "interp"]
    assert len(by_interpreter) == len(files)
