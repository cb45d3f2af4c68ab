"""The one place where Python code reads TILEWRIGHT_* variables.

Its twin for C++ code is include/tilewright/Support/Environment.h. A variable that is empty counts
as not set; one whose value means nothing is an error that names it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # loading it would take a third of the time of `import tilewright`
    from pathlib import Path

_OFF, _ON = ("0", "off", "no", "false"), ("1", "on", "yes", "true")

#: What each variable does; the documentation shows this table. Read here, by C++ code, and by
#: scripts, tests and benchmarks.
MEANINGS = {
    "TILEWRIGHT_ARCH": "the architecture of GPU code that no target names, and of device queries; "
    "`tw --arch` sets it. The default is that of the GPU, real or virtual, that runs kernels which "
    "name no device, and without one `sm_80`",
    "TILEWRIGHT_CACHE": "`0`: keep no compiled code on disk",
    "TILEWRIGHT_CACHE_DIR": "where compiled code is kept, a path from the root. The default is "
    "`tilewright` in `XDG_CACHE_HOME`, else in `.cache` of the home directory",
    "TILEWRIGHT_CACHE_MB": "the largest size of that folder in MiB. The default is 512; the least "
    "recently used entries go first",
    "TILEWRIGHT_CHECK": "`1`: check everything that can be checked, while compiling and running; "
    "`0`: no checks on the interpreter and the virtual GPU",
    "TILEWRIGHT_CHECK_PLANS": "`1`: check every recorded access again by enumeration",
    "TILEWRIGHT_COMPILE_SECONDS": "how long a kernel may take to compile, in seconds; more is "
    "an error. The default is 600",
    "TILEWRIGHT_CORE": "the type of core that CPU code is tuned for: `sapphirerapids`, `znver4`, "
    "`znver5` or `haswell`. The default is the one most like the processor",
    "TILEWRIGHT_CPU": "which instructions CPU code uses. `avx2`: no AVX-512; `no-amx`: no matrix "
    "unit; `bf16-dots`, `bf16-widened`: how bfloat16 is multiplied, whatever is faster; "
    "`amx-in-software`: functions stand for the matrix unit's instructions (slow, for tests)",
    "TILEWRIGHT_DEBUG": "`1`: show Tilewright's own frames in tracebacks",
    "TILEWRIGHT_DETERMINISTIC": "`1`: run the blocks of kernels with atomics in order, so that "
    "float sums have the same bits on each run of CPU code",
    "TILEWRIGHT_DEVICE": "where kernels run if the program names no device: `cuda:0`, `cpu`, "
    "`interp`, `vgpu:sm_80`, …; `tw run --device` sets it",
    "TILEWRIGHT_L2_KB": "the size of a core's second cache, in KiB, that CPU code is tuned for. "
    "The default is what the processor says",
    "TILEWRIGHT_LIBCUDA": "the library of NVIDIA's driver; `none` hides all GPUs",
    "TILEWRIGHT_NVDISASM": "the program `nvdisasm`, with which reports show machine code; `none` "
    "hides it",
    "TILEWRIGHT_PTXAS": "the program `ptxas`, which makes machine code; `none` hides it",
    "TILEWRIGHT_THREADS": "how many threads run CPU code. The default is one for each core",
    "TILEWRIGHT_VGPU_MODE": "`late`: asynchronous copies and products on the virtual GPU take "
    "effect as late as they may, not as soon as they are issued",
}
KNOWN = tuple(MEANINGS)


def text(name: str) -> str | None:
    """The value as it stands there; None if it is not set."""
    return os.environ.get(name) or None


def switch(name: str) -> bool | None:
    """The value of a variable that is on or off; None if it is not set."""
    value = text(name)
    if value is None or value.lower() in _ON:
        return None if value is None else True
    if value.lower() in _OFF:
        return False
    from tilewright.support.errors import LanguageError

    raise LanguageError(f"{name} is '{value}'; it can be 1 or 0")


def is_on(name: str) -> bool:
    """As `switch`, where an error is being reported and no other may be raised."""
    return (text(name) or "0").lower() not in _OFF


def executable(name: str) -> Path | None:
    """The program that a variable names, perhaps none; None if it is not set."""
    value = text(name)
    if value is None:
        return None
    from pathlib import Path

    path = Path(value)
    if value == "none" or (path.is_file() and os.access(path, os.X_OK)):
        return path
    from tilewright.support.errors import LanguageError

    raise LanguageError(f"{name} is '{value}', which is not a program that can be run")


def warn_of_misspelt_names() -> None:
    """Warns of a variable whose name is nearly one of ours: it would have no effect."""
    for name in os.environ:
        if name.startswith("TILEWRIGHT_") and name not in KNOWN:
            import difflib
            import warnings

            near = difflib.get_close_matches(name, KNOWN, n=1, cutoff=0.9)
            if near:
                message = f"the variable {name} has no effect; did you mean {near[0]}?"
                warnings.warn(message, stacklevel=3)
