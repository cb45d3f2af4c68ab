"""`tw run` and `tw compile`: executes a script and reports on its kernels."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from tilewright.cli.script import (
    execute,
    find_file,
    keeping_calls,
    listening,
    load,
    report_failure,
    say,
)
from tilewright.support.errors import debugging


class Session:
    """What happened to kernels while a script ran."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.kernels: list[Any] = []
        self.run_seconds: dict[int, float] = {}
        self.runs: dict[int, int] = {}
        self.defects = 0  # findings that are no notes
        self.started = time.perf_counter()

    def listen(self, event: str, kernel: Any) -> None:
        """Hears of each kernel that is compiled or run."""
        if event == "compiled":
            self._prepare(kernel)
            return
        key = id(kernel)
        self.runs[key] = self.runs.get(key, 0) + 1
        self.run_seconds[key] = self.run_seconds.get(key, 0.0) + kernel.last_run["seconds"]
        for finding in kernel.findings:  # defects are told by the error of the call
            if finding["severity"] != "note":
                self.defects += 1
            elif self.options.check and not self.options.quiet:
                say(finding["text"])

    def _prepare(self, kernel: Any) -> None:
        options, device = self.options, kernel.placement.device
        self.kernels.append(kernel)
        watches = device == "interp" or device.startswith("vgpu:")
        if options.check:
            kernel.options.update({"strict": True, "check": True})
            if not watches:
                say(f"tw: warning: '{kernel.name}' names its own device, '{device}', "
                    "which watches nothing: it is not checked")  # fmt: skip
        if options.bounds:
            kernel.options["bounds"] = True
            if device != "interp":
                say(f"tw: warning: '{kernel.name}' names its own device, '{device}', "
                    "which carries no error radii")  # fmt: skip
        if options.dump_ir or options.dump_ir_after:
            print(kernel.ir(options.dump_ir_after or "tile"))

    def finish_lines(self) -> None:
        """No line of progress is left standing."""
        for kernel in self.kernels:
            if kernel._line is not None:
                kernel._line.finish()


def run_script(options: argparse.Namespace, script_arguments: list[str]) -> int:
    """Runs the script; the exit status of `tw`. Findings are an error, also where the script
    catches their exceptions."""
    if not options.is_module and not find_file(options.file):
        return 2
    session = Session(options)
    calls: dict[int, list[Any]] = {}
    try:
        with listening(session.listen), keeping_calls(calls if options.report else None):
            status, _ = execute(
                options.file, script_arguments, "__main__", is_module=options.is_module
            )
    except BrokenPipeError:
        raise
    except Exception as error:
        session.finish_lines()
        if debugging():
            raise
        report_failure(error)
        return 1
    session.finish_lines()
    if status == 0 and options.report:
        from tilewright.cli.report import write_report

        status = write_report(options.report, session.kernels, calls)
    if status == 0 and not options.quiet:
        from tilewright.cli.summary import print_summary

        print_summary(session)
    if status == 0 and session.defects:
        say(f"tw: error: the checks found {session.defects} defect(s)")
        return 1
    return status


def compile_script(options: argparse.Namespace, script_arguments: list[str]) -> int:
    """Compiles the kernels of a script and prints what they compile to; the exit status."""
    if not find_file(options.file):
        return 2
    try:
        kernels = load(options, script_arguments)
        _emit(options, kernels)
    except BrokenPipeError:
        raise
    except OSError as error:
        say(f"tw: error: cannot write '{error.filename}': {error.strerror}")
        return 1
    except Exception as error:
        if debugging():
            raise
        report_failure(error)
        return 1
    return 0


def _emit_library(options: argparse.Namespace, kernels: list[Any]) -> None:
    """Writes all kernels as one library; those of one name are the shapes of one function."""
    from tilewright.runtime.export import CPUS, export_library

    files = export_library(
        Path(options.output or ".", Path(options.file).stem),
        kernels,
        cpus=options.cpus or CPUS,
        archs=options.archs or ([options.arch] if options.arch else []),
        formats=options.formats or (),
        cubins=options.cubins,
    )
    for file in files:
        print(file)


def _emit(options: argparse.Namespace, kernels: list[Any]) -> None:
    """Prints or writes the stage that `--emit` selects, for every kernel."""
    from tilewright.cli.summary import describe_gpu

    if options.emit == "library":
        return _emit_library(options, kernels)
    if options.emit == "cubin":
        for number, kernel in enumerate(kernels, start=1):
            several = f"-{number}" if len(kernels) > 1 else ""
            base = Path(options.output or f"{kernel.name}.cubin")
            target = base.with_stem(base.stem + several)
            target.write_bytes(kernel.cubin(options.arch))
            launches = kernel.summary(options.arch or kernel.placement.arch)["kernels"]
            print(f"{target}: {'; '.join(describe_gpu(launch['gpu']) for launch in launches)}")
        return
    stage = options.dump_ir_after or ("tile" if options.dump_ir else options.emit)
    text = "\n".join(kernel.ir(stage, options.arch, options.divisible) for kernel in kernels)
    if options.output:
        Path(options.output).write_text(text)
    else:
        print(text)
    if options.verbose:
        for kernel in kernels:
            for remark in kernel.remarks:
                print(f"{remark.file}:{remark.line}: remark: {remark.message}", file=sys.stderr)
