"""The commands `tw-opt` and `tw-vgpu` of an installed package.

They are C++ programs; the extension module holds them, so that LLVM is installed once.
"""

from __future__ import annotations

import signal
import sys


def run_opt() -> int:
    """`tw-opt`: runs passes on textual tile IR."""
    return _run("tw-opt")


def run_vgpu() -> int:
    """`tw-vgpu`: runs a PTX file on the virtual GPU."""
    return _run("tw-vgpu")


def _run(tool: str) -> int:
    from tilewright._core import core

    # Ctrl-C and a closed pipe end it, as they end any program that is not in Python.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return core.run_tool(tool, [tool, *sys.argv[1:]])
