"""ptxas and nvdisasm, NVIDIA's assembler and disassembler: found where they are installed, run on
the PTX of a kernel.

Each is looked for in its variable (`TILEWRIGHT_PTXAS`, `TILEWRIGHT_NVDISASM`), on PATH, in
`CUDA_HOME` (or `CUDA_PATH`), in /usr/local/cuda, and in the PyPI packages nvidia-cuda-nvcc and
nvidia-cuda-nvdisasm of this Python.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tilewright.support import environment
from tilewright.support.errors import Location, TilewrightError


@dataclass(frozen=True)
class Usage:
    """What ptxas says of one kernel. Static shared memory only; a launch adds the dynamic."""

    registers: int = 0
    stack_bytes: int = 0
    spill_store_bytes: int = 0
    spill_load_bytes: int = 0
    static_shared_bytes: int = 0

    @property
    def spills(self) -> bool:
        """True if values did not fit the registers."""
        return self.spill_store_bytes > 0 or self.spill_load_bytes > 0


@dataclass(frozen=True)
class Cubin:
    """Machine code for one architecture, and the resources of each kernel in it."""

    data: bytes
    usage: dict[str, Usage]


def _candidates(program: str, variable: str) -> Iterator[Path]:
    if named := environment.executable(variable):
        yield named
        return  # who names one means it
    on_path = shutil.which(program)
    if on_path:
        yield Path(on_path)
    for home in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(home):
            yield Path(os.environ[home], "bin", program)
    yield Path("/usr/local/cuda/bin", program)
    for entry in sys.path:
        yield from sorted(Path(entry, "nvidia").glob(f"*/bin/{program}"))


@cache
def _find(program: str, variable: str, *_environment: str | None) -> Path | None:
    for path in _candidates(program, variable):
        if path.is_file() and os.access(path, os.X_OK):
            return path
    return None


def _find_now(program: str, variable: str) -> Path | None:
    """Looks again only if a variable has changed."""
    names = (variable, "PATH", "CUDA_HOME", "CUDA_PATH")
    return _find(program, variable, *(os.environ.get(name) for name in names))


def find_ptxas() -> Path | None:
    """The assembler, or None where none is installed."""
    return _find_now("ptxas", "TILEWRIGHT_PTXAS")


def find_nvdisasm() -> Path | None:
    """The disassembler, or None where none is installed."""
    return _find_now("nvdisasm", "TILEWRIGHT_NVDISASM")


def assemble(ptx: str, arch: str) -> Cubin:
    """`ptx` as machine code for `arch`. What ptxas refuses is our bug, and said as such."""
    ptxas = find_ptxas()
    if ptxas is None:
        raise TilewrightError(
            "a cubin needs ptxas, and none was found; install the CUDA toolkit or 'pip install "
            "nvidia-cuda-nvcc', or set TILEWRIGHT_PTXAS to its path"
        )
    with tempfile.TemporaryDirectory(prefix="tilewright-") as directory:
        source, target = Path(directory, "kernel.ptx"), Path(directory, "kernel.cubin")
        source.write_text(ptx)
        command = [str(ptxas), "-v", f"-arch={arch}", "-o", str(target), str(source)]
        try:
            run = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise TilewrightError(f"'{ptxas}' cannot be run: {error.strerror}") from None
        if run.returncode != 0 or not target.exists():
            raise _refusal(ptx, run.stderr + run.stdout)
        return Cubin(target.read_bytes(), read_usage(run.stderr + run.stdout))


def disassemble(ptx: str, arch: str) -> list[tuple[str, int]]:
    """The machine code of `ptx` for `arch`: each line with the line of PTX it comes from, or 0."""
    ptxas, nvdisasm = find_ptxas(), find_nvdisasm()
    with tempfile.TemporaryDirectory(prefix="tilewright-") as directory:
        source, target = Path(directory, "kernel.ptx"), Path(directory, "kernel.cubin")
        source.write_text(ptx)
        make = [str(ptxas), f"-arch={arch}", "-lineinfo", "-o", str(target), str(source)]
        show = [str(nvdisasm), "-c", "--print-line-info-ptx", str(target)]
        text = ""
        for command in (make, show):
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            if run.returncode != 0:
                return []
            text = run.stdout
    listing, line = [], 0
    for row in text.splitlines():
        found = re.match(r"\s*//## File .*, line (\d+)", row)
        if found:
            line = int(found.group(1))
        elif row.strip():
            listing.append((row, line if re.match(r"\s*/\*[0-9a-f]{4,}\*/", row) else 0))
    return listing


def _refusal(ptx: str, output: str) -> TilewrightError:
    """ptxas' words next to the Python line that its first complaint belongs to."""
    complaints = [line for line in output.splitlines() if "error" in line or "fatal" in line]
    first = complaints[0] if complaints else output.strip() or "no message"
    found = re.search(r"line (\d+)\s*;\s*(?:error|fatal)\s*:\s*(.*)", first)
    message = found.group(2) if found else first
    number = int(found.group(1)) if found else 0
    lines = ptx.splitlines()
    instruction = f": '{lines[number - 1].strip()}'" if 0 < number <= len(lines) else ""
    return TilewrightError(
        f"ptxas refuses the generated code: {message}{instruction}; this is our bug, please report "
        "it with 'kernel.ptx'",
        python_location(ptx, number) if number else None,
        kind="internal error",
    )


def python_location(ptx: str, ptx_line: int) -> Location | None:
    """The Python line that a line of PTX was made from, by the last `.loc` before it."""
    lines = ptx.splitlines()
    files = dict(re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', ptx, re.MULTILINE))
    for line in reversed(lines[:ptx_line]):
        found = re.match(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)", line)
        if found and found.group(1) in files:
            return Location(files[found.group(1)], int(found.group(2)), 0)
        if ".entry" in line:
            return None
    return None


def read_usage(output: str) -> dict[str, Usage]:
    """The figures of `ptxas -v` for each kernel."""
    usage: dict[str, Usage] = {}
    sections = re.split(r"Compiling entry function '([^']*)'", output)
    for name, text in zip(sections[1::2], sections[2::2], strict=True):

        def number(pattern: str, text: str = text) -> int:
            found = re.search(pattern, text)
            return int(found.group(1)) if found else 0

        usage[name] = Usage(
            registers=number(r"Used (\d+) registers"),
            stack_bytes=number(r"(\d+) bytes stack frame"),
            spill_store_bytes=number(r"(\d+) bytes spill stores"),
            spill_load_bytes=number(r"(\d+) bytes spill loads"),
            static_shared_bytes=number(r"(\d+) bytes smem"),
        )
    return usage
