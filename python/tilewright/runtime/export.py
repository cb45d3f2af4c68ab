"""Kernels as a library for C and C++: `NAME.h`, `.a` and `.json`, on request `.so` and `.o`.

    kernel.export_library("out/gemm", archs=["sm_90a"])
    tilewright.export_library("out/ops", {"gemm": [small, large], "softmax": softmax})

The library needs neither Python nor LLVM where it runs, only `libtilewright_rt`
(docs/howto/embed-in-cpp.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.runtime.pass_config import deterministic
from tilewright.support.errors import LanguageError, reporting

if TYPE_CHECKING:
    from tilewright.runtime.kernel import JITKernel

#: What a library can be written as; the archive and the description are always written.
FORMATS = ("a", "so", "o")

#: Processors whose code a library has if nothing is said: one with AVX-512, and one with AVX2.
CPUS = ("x86-64-v4", "x86-64-v3")


def runtime_folder() -> Path:
    """The folder with `include/` and `lib/` of libtilewright_rt: in the package or a build tree."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "cpp", package.parents[1] / "build" / "cpp"):
        if (folder / "include" / "tilewright" / "runtime.h").exists():
            return folder
    raise LanguageError(
        "libtilewright_rt is not there",
        hint="run 'make build' in the checkout, or install the wheel",
    )


def get_cmake_dir() -> str:
    """Where CMake's find_package(Tilewright) looks: `-DTilewright_DIR=...`, or a part of
    CMAKE_PREFIX_PATH."""
    return str(runtime_folder() / "lib" / "cmake" / "Tilewright")


def get_include() -> str:
    """The folder of `tilewright/runtime.h`."""
    return str(runtime_folder() / "include")


@reporting
def export_library(
    path: str | Path,
    kernels: JITKernel | Sequence[JITKernel] | Mapping[str, JITKernel | Sequence[JITKernel]],
    *,
    cpus: Sequence[str] = CPUS,
    archs: Sequence[str] = (),
    formats: Sequence[str] = ("a",),
    cubins: bool = False,
) -> list[Path]:
    """Writes kernels as a library and gives the files.

    `path` names the library: "out/ops" writes out/ops.h and so on. `kernels` is a kernel, several
    ones, or a dictionary with their names in C. A list in place of a kernel is one kernel for
    several shapes: a call runs the first whose parameters its tensors fit. `cpus` are "x86-64-v3"
    (AVX2), "x86-64-v4" (AVX-512) and "host" (all that this machine has); at run time the first of
    host, v4 and v3 is taken that the processor can run. `archs` are GPUs (`sm_80`, …): the library
    has PTX for them, and with `cubins` machine code by ptxas too. `formats` adds "so" and "o",
    which need a linker.
    """
    base = Path(path)
    name = base.name
    unknown = [kind for kind in formats if kind not in FORMATS]
    if unknown:
        raise LanguageError(
            f"a library cannot be written as '{unknown[0]}'; known are {', '.join(FORMATS)}"
        )
    from tilewright._core import core
    from tilewright.support.version import RELEASE

    functions = [
        (function, [_form(kernel) for kernel in forms])
        for function, forms in _named(kernels, name).items()
    ]
    ordered = sorted(set(cpus), key=lambda cpu: {"host": 0, "x86-64-v4": 1}.get(cpu, 2))
    files = core.export_library(
        functions, name, ordered, list(dict.fromkeys(archs)), RELEASE, _assemble if cubins else None
    )
    base.parent.mkdir(parents=True, exist_ok=True)
    archive = base.parent / f"{name}.a"
    header = base.parent / f"{name}.h"
    description = base.parent / f"{name}.json"
    header.write_text(files["header"], encoding="utf-8")
    archive.write_bytes(files["archive"])
    description.write_text(files["description"], encoding="utf-8")
    written = [header, archive, description]
    for kind in ("so", "o"):
        if kind in formats:
            output = base.parent / f"{name}.{kind}"
            folder = str(runtime_folder() / "lib") if kind == "so" else ""
            core.link_library(
                str(archive), str(output), name, kind == "so", folder, files["symbols"]
            )
            written.append(output)
    return written


def _named(kernels: Any, library: str) -> dict[str, list[JITKernel]]:
    """The kernels of each function, by its name in C. Kernels of one name are its shapes; one that
    is called `main`, which C does not allow, is called like the library."""
    if isinstance(kernels, Mapping):
        return {
            name: list(forms) if isinstance(forms, Sequence) else [forms]
            for name, forms in kernels.items()
        }
    named: dict[str, list[JITKernel]] = {}
    for kernel in kernels if isinstance(kernels, Sequence) else [kernels]:
        name = library if kernel.name == "main" else kernel.name
        named.setdefault(name, []).append(kernel)
    return named


def _form(kernel: JITKernel) -> tuple[Any, bool]:
    """A kernel as the compiler takes it: its program, and whether its blocks keep their order."""
    for parameter in kernel.params:
        if "pointed" in parameter:
            raise LanguageError(
                f"parameter '{parameter['pointed'].table}' of '{kernel.name}' has addresses, "
                "which Python looks up for each call; a library cannot"
            )
    return kernel.program, bool(deterministic(kernel.pass_configs))


def _assemble(ptx: str, arch: str) -> bytes:
    from tilewright.runtime.ptxas import assemble

    return assemble(ptx, arch).data
