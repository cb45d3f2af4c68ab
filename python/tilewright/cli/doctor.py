"""`tw doctor`: what is installed here, what is missing, and what to do about it."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

#: Packages that Tilewright needs, and those that it works with.
_NEEDED = ("numpy", "ml_dtypes", "rich")
_USED = ("torch", "triton")

OK, ABSENT, WRONG = "ok", "absent", "wrong"


class Finding(NamedTuple):
    """One line of the report. Only what is `wrong` keeps kernels from running."""

    state: str
    subject: str
    text: str
    advice: str = ""


def examine() -> Iterator[Finding]:
    """Looks at everything, from the package to the devices."""
    yield from _versions()
    yield from _packages()
    try:
        from tilewright._core import core
    except ImportError as error:
        yield Finding(
            WRONG, "compiler", f"its extension module cannot be loaded: {error}", _again()
        )
        return
    facts = core.host_facts()
    yield Finding(OK, "compiler", f"LLVM {facts['llvm']}, {Path(core.__file__).parent}")
    yield from _devices(facts)
    yield from _nvidia_tools()
    yield from _cache(core.cache_status())


def _again() -> str:
    return f"{sys.executable} -m pip install --force-reinstall tilewright"


def _versions() -> Iterator[Finding]:
    from tilewright.support.version import __version__

    yield Finding(OK, "tilewright", f"{__version__}, {Path(__file__).resolve().parents[1]}")
    system = f"{platform.system()} {platform.machine()}, {' '.join(platform.libc_ver())}"
    yield Finding(OK, "python", f"{platform.python_version()}, {sys.executable}, {system}")


def _packages() -> Iterator[Finding]:
    for name in _NEEDED:
        try:
            yield Finding(OK, name, metadata.version(name))
        except metadata.PackageNotFoundError:
            advice = f"{sys.executable} -m pip install {name}"
            yield Finding(WRONG, name, "not installed, and needed", advice)
    for name in _USED:
        try:
            yield Finding(OK, name, metadata.version(name))
        except metadata.PackageNotFoundError:
            yield Finding(ABSENT, name, "not installed, and not needed")


def _devices(facts: dict[str, str]) -> Iterator[Finding]:
    from tilewright.runtime.device import ARCHS, gpus

    cores = len(os.sched_getaffinity(0))
    yield Finding(OK, "cpu", f"{facts['processor']}, {cores} cores; also 'interp', which checks")
    if facts["vgpu_problem"]:
        yield Finding(ABSENT, "virtual GPU", facts["vgpu_problem"])
    else:
        yield Finding(OK, "virtual GPU", " ".join(f"vgpu:{arch}" for arch in ARCHS))
    found, reason = gpus()
    for number, gpu in enumerate(found):
        state, text = (OK, gpu.arch) if gpu.arch else (ABSENT, gpu.problem)
        yield Finding(state, f"cuda:{number}", f"{gpu.name}, {text}")
    if not found:
        advice = (
            "on a machine with an NVIDIA GPU install its driver; kernels run on the CPU without"
        )
        yield Finding(ABSENT, "cuda", reason, advice)


def _nvidia_tools() -> Iterator[Finding]:
    from tilewright.runtime.ptxas import find_nvdisasm, find_ptxas
    from tilewright.support.errors import TilewrightError

    uses = {"ptxas": "only 'kernel.cubin()' needs it", "nvdisasm": "reports show no machine code"}
    packages = {"ptxas": "nvidia-cuda-nvcc", "nvdisasm": "nvidia-cuda-nvdisasm"}
    for name, find in (("ptxas", find_ptxas), ("nvdisasm", find_nvdisasm)):
        try:
            path = find()
        except TilewrightError as error:
            advice = f"unset TILEWRIGHT_{name.upper()} or correct it"
            yield Finding(WRONG, name, error.message, advice)
            continue
        if path is None:
            advice = f"{sys.executable} -m pip install {packages[name]}"
            yield Finding(ABSENT, name, f"not found; {uses[name]}", advice)
        else:
            yield Finding(OK, name, f"{_tool_version(path)}, {path}")


def _tool_version(path: Path) -> str:
    try:
        run = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    except OSError as error:
        return f"cannot be run: {error.strerror}"
    version = re.search(r"release \S+ V(\S+)", run.stdout)
    return version.group(1) if version else "of unknown version"


def _cache(status: dict[str, str]) -> Iterator[Finding]:
    if status["problem"]:
        advice = "set TILEWRIGHT_CACHE_DIR to a folder that you can write; kernels run without"
        yield Finding(ABSENT, "cache", status["problem"], advice)
        return
    if not status["directory"]:
        yield Finding(ABSENT, "cache", "switched off", "unset TILEWRIGHT_CACHE")
        return
    files = [entry for entry in Path(status["directory"]).rglob("*") if entry.is_file()]
    size = sum(file.stat().st_size for file in files) / 1e6
    yield Finding(OK, "cache", f"{status['directory']}, {len(files)} files, {size:.1f} MB")


def show_report(as_json: bool) -> int:
    """Prints the report; the exit status is 1 if something keeps kernels from running."""
    findings = list(examine())
    if as_json:
        print(json.dumps([finding._asdict() for finding in findings], indent=2))
    else:
        width = max(len(finding.subject) for finding in findings)
        for finding in findings:
            print(f"{finding.state:7} {finding.subject:{width}}  {finding.text}")
            if finding.advice:
                print(f"{'':7} {'':{width}}  to do: {finding.advice}")
    return 1 if any(finding.state == WRONG for finding in findings) else 0
