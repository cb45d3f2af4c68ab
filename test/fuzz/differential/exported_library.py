"""A program as a C library: what `tilewright.export_library` writes, called as a C program does."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from types import ModuleType

import numpy as np
import tilewright
from tilewright._core import core
from tilewright.errors import TilewrightError

sys.path.append(str(Path(__file__).resolve().parents[2] / "python"))

import exported

#: The stand-in for a GPU's driver, which runs PTX on the virtual GPU.
DRIVER = Path(core.__file__).parents[1] / "lib" / "libTwFakeCuda.so"


def run(module: ModuleType, arch: str) -> list[np.ndarray]:
    """The arguments after a call of the library's function, on the CPU or on the GPU of `arch`."""
    values = module.arguments()
    with tempfile.TemporaryDirectory(prefix="tilewright-fuzz-") as folder:
        kernel = tilewright.compile(module.main, device="interp")
        tilewright.export_library(
            Path(folder, "ops"), {"program": kernel}, cpus=["host"], archs=[arch] if arch else [],
            formats=["so"],
        )  # fmt: skip
        library = exported.Exported(Path(folder, "ops.so"))
        if not arch:
            given = [exported.tensor(value) for value in values]
            _check(library.call("program", *given))
            return values
        on_gpu = [exported.OnGpu(np.ascontiguousarray(value)) for value in values]
        _check(library.call("program", *(value.tensor for value in on_gpu)))
        results = [value.get() for value in on_gpu]
        for value in on_gpu:
            value.free()
        return results


def _check(answer: tuple[int, str]) -> None:
    code, message = answer
    if code:
        raise TilewrightError(f"the library's function gave {code}: {message}")
