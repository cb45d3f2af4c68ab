"""`tw run` and `tw compile`: executes a script as `__main__` and reports on its kernels."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from tilewright.cli import imports
from tilewright.cli.progress import ProgressLine
from tilewright.errors import as_report, debugging, is_ours


class Session:
    """What happened to kernels while a script ran."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.kernels: list[Any] = []
        self.run_seconds: dict[int, float] = {}
        self.runs: dict[int, int] = {}
        self.lines: dict[int, ProgressLine] = {}
        self.started = time.perf_counter()

    def listen(self, event: str, kernel: Any) -> None:
        """Hears of each kernel that is compiled or run."""
        if event == "compiled":
            self.kernels.append(kernel)
            self.lines[id(kernel)] = ProgressLine(kernel)
            kernel.watch(self.lines[id(kernel)])
            kernel.options.update(
                {"strict": True, "check": True} if getattr(self.options, "check", False) else {}
            )
            if getattr(self.options, "bounds", False):
                kernel.options["bounds"] = True
            if self.options.dump_ir or self.options.dump_ir_after:
                print(kernel.ir(self.options.dump_ir_after or "tile"))
        else:
            key = id(kernel)
            self.lines[key].finish()
            self.runs[key] = self.runs.get(key, 0) + 1
            self.run_seconds[key] = self.run_seconds.get(key, 0.0) + kernel.last_run["seconds"]
            if getattr(self.options, "check", False):
                for finding in kernel.findings:
                    print(finding["text"], file=sys.stderr)


def run_script(options: argparse.Namespace, script_arguments: list[str]) -> int:
    """Runs the script; the exit status of `tw`."""
    is_module = getattr(options, "is_module", False)
    if not is_module and not os.path.isfile(options.file):
        print(f"tw: error: no file '{options.file}'", file=sys.stderr)
        return 2
    session = Session(options)
    try:
        status = _execute(options.file, script_arguments, session, is_module)
        if status == 0:
            status = _finish(session)
    except Exception as error:
        if debugging():
            raise
        report = as_report(error)
        if report is not None:
            print(report, file=sys.stderr)
        else:
            _print_traceback(error)
        return 1
    return status


def _print_traceback(error: Exception) -> None:
    """Prints an exception of the script as Python would, without the frames of this runner."""
    frames = error.__traceback__
    while frames is not None and (
        is_ours(frames.tb_frame.f_code.co_filename)
        or frames.tb_frame.f_code.co_filename == "<frozen runpy>"
    ):
        frames = frames.tb_next
    traceback.print_exception(type(error), error, frames)


def _execute(
    file: str, script_arguments: list[str], session: Session, is_module: bool = False
) -> int:
    imports.install()
    from tilewright import kernel

    kernel.listeners.append(session.listen)
    saved = sys.argv, sys.path[0]
    sys.argv = [file, *script_arguments]
    sys.path[0] = os.getcwd() if is_module else os.path.dirname(os.path.abspath(file))
    try:
        if is_module:
            runpy.run_module(file, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(file, run_name="__main__")
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        print(stop.code, file=sys.stderr)
        return 1
    finally:
        for line in session.lines.values():
            line.finish()
        sys.argv, sys.path[0] = saved
        kernel.listeners.remove(session.listen)
    return 0


def _finish(session: Session) -> int:
    from tilewright.cli.summary import print_summary

    if session.options.command == "run":
        print_summary(session)
        return 0
    try:
        _emit(session)
    except OSError as error:
        print(f"tw: error: cannot write '{error.filename}': {error.strerror}", file=sys.stderr)
        return 1
    return 0


def _emit(session: Session) -> None:
    """Prints or writes what `--emit` asks for of every kernel."""
    from tilewright.cli.summary import describe_gpu

    options = session.options
    if options.emit == "cubin":
        for number, kernel in enumerate(session.kernels, start=1):
            several = f"-{number}" if len(session.kernels) > 1 else ""
            base = Path(options.output or f"{kernel.name}.cubin")
            target = base.with_stem(base.stem + several)
            target.write_bytes(kernel.cubin(options.arch))
            launches = kernel.summary(options.arch or kernel.placement.arch)["kernels"]
            print(f"{target}: {'; '.join(describe_gpu(launch['gpu']) for launch in launches)}")
        return
    text = "\n".join(
        kernel.ir(options.emit, options.arch, options.divisible) for kernel in session.kernels
    )
    if options.output:
        Path(options.output).write_text(text)
    else:
        print(text)
