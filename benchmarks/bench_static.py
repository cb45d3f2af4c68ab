"""What ptxas makes of our PTX for sm_80: registers, spills, shared bytes, SASS instructions.

Compared with TileLang 0.1.15 as issue 4 measured it (nvcc for its output). SASS is counted where an
`nvdisasm` is on the path or named by NVDISASM (Triton's wheel has one).
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from figures import ROOT, Figure

# kernel -> what TileLang's code needs
PEER = {
    "seed": {
        "registers": 255,
        "spill bytes": 0,
        "shared bytes": 53504,
        "SASS": 2296,
        "HMMA": 320,
        "LDSM": 200,
    },
    "gemm 1024": {"registers": 226, "SASS": 872},
    "attention": {"registers": 182, "SASS": 1616},
}


def load(path: Path) -> Any:
    """The module of an example, with `tilelang` meaning tilewright."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kernels() -> Iterator[tuple[str, Any]]:
    """The three kernels of issue 4, compiled for sm_80."""
    import dataclasses

    import tilewright
    from tilewright.cli import imports

    imports.install()
    sys.path.insert(0, str(ROOT / "examples" / "seed"))
    import run_seed

    case = dataclasses.replace(run_seed.SMALL[0], seq_len=4096, heads=64, dim=128)
    yield "seed", run_seed.load_kernel(case, "vgpu:sm_80")
    matmul = load(ROOT / "examples" / "matmul.py").matmul
    yield "gemm 1024", tilewright.compile(matmul(1024, 1024, 1024), target="sm_80")
    attention = load(ROOT / "examples" / "flash_attention.py").flash_attention
    yield "attention", tilewright.compile(attention(1, 32, 4096, 64, True), target="sm_80")


def measure(ptx: str) -> dict[str, int]:
    """What ptxas says of the kernel, and what nvdisasm counts, if there is one."""
    from tilewright.ptxas import assemble

    cubin = assemble(ptx, "sm_80")
    (usage,) = cubin.usage.values()
    found = {"registers": usage.registers, "spill bytes": usage.spill_store_bytes}
    nvdisasm = os.environ.get("NVDISASM") or shutil.which("nvdisasm")
    if nvdisasm:
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(cubin.data)
            file.flush()
            listing = subprocess.run(
                [nvdisasm, "-c", file.name], check=True, capture_output=True, text=True
            ).stdout
        names = re.findall(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([A-Z][A-Z0-9]*)", listing)
        found["SASS"] = len(names)
        found["HMMA"] = names.count("HMMA")
        found["LDSM"] = names.count("LDSM")
    return found


def figures() -> Iterator[Figure]:
    from tilewright.ptxas import find_ptxas

    if not find_ptxas():
        yield Figure("static quality", None, "", note="ptxas is not installed")
        return
    for name, kernel in kernels():
        found = measure(kernel.ptx)
        found["shared bytes"] = kernel.program.compile_gpu("sm_80")["kernels"][0]["shared_bytes"]
        for what, value in found.items():
            peer = PEER[name].get(what)
            yield Figure(
                f"{name}, sm_80: {what}", value, "", "TileLang 0.1.15" if peer else "", peer
            )
