"""`tw check`: every mistake that can be found without a GPU, for people and for CI systems.

A script is loaded without its main part. Each of its kernels is compiled for the CPU and for each
architecture, which finds what the language, the layouts and the limits of an architecture refuse;
then `kernel.verify` runs it on all engines, which finds races, accesses that leave a tile, values
that were never written, and engines that disagree.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tilewright.cli.script import find_file, load, report_failure, say
from tilewright.runtime.device import TYPICAL_ARCHS
from tilewright.support.errors import (
    Location,
    Note,
    TilewrightError,
    as_report,
    debugging,
    render,
    shorten,
)


@dataclass
class Problem:
    """One result of the check."""

    level: str  # "error", "warning" or "note"
    rule: str  # what kind of problem: "race", "limits", …
    message: str
    file: str
    line: int
    column: int = 0
    kernel: str = ""
    engines: tuple[str, ...] = ()  # where it shows; none: everywhere
    text: str = ""  # for people, with the source

    @property
    def short_file(self) -> str:
        """The file as compilers print it."""
        return shorten(self.file) if self.file else ""


#: What the rules mean, for SARIF.
RULES = {
    "language": "The program breaks a rule of the language.",
    "limits": "An architecture refuses the kernel.",
    "race": "Blocks or threads touch the same element, one writes, and nothing orders them.",
    "parallel_conflict": "Iterations of a T.Parallel loop meet in an element.",
    "deadlock": "Threads wait for each other at barriers.",
    "uninitialized": "A value that was never written reaches a tensor, a condition or an index.",
    "out_of_bounds": "An access leaves a tile or a tensor.",
    "difference": "An engine gives another value than the interpreter.",
    "unused": "A parameter is never used.",
    "run": "The kernel ends with an error.",
}


def check_script(options: argparse.Namespace, script_arguments: list[str]) -> int:
    """Checks the kernels of a script: 0 without errors, 1 with, 2 if it could not be checked."""
    if not find_file(options.file):
        return 2
    calls: dict[int, list[Any]] = {}
    problems: list[Problem] = []
    kernels: list[Any] = []
    try:
        kernels = load(options, script_arguments, calls)
    except TilewrightError as error:
        if error.location is None and error.kind == "error":
            say(f"tw: error: {error.message}")
            return 2
        problems.append(_from_error(error, "language"))
    except BrokenPipeError:
        raise
    except Exception as error:
        if debugging():
            raise
        report = as_report(error)
        if report is None:
            report_failure(error)
            return 2
        problems.append(_from_error(report, "language"))
    for kernel in kernels:
        problems += _check_kernel(kernel, options, calls.get(id(kernel)))
    try:
        _write(options, kernels, problems)
    except BrokenPipeError:
        raise
    except OSError as error:
        say(f"tw: error: cannot write '{error.filename}': {error.strerror}")
        return 2
    return 1 if any(problem.level == "error" for problem in problems) else 0


# ---- One kernel ----


def _check_kernel(
    kernel: Any, options: argparse.Namespace, call: list[Any] | None
) -> list[Problem]:
    archs = tuple(options.arch or TYPICAL_ARCHS)
    problems = _check_parameters(kernel)
    problems += _check_limits(kernel, archs, is_asked=bool(options.arch))
    if options.static:
        return problems
    from tilewright.runtime.verify import verify_on

    engines = ["cpu", *(f"vgpu:{arch}" for arch in archs)]
    try:
        result = verify_on(kernel, call, engines)
    except Exception as error:
        report = as_report(error)
        if report is None:
            raise
        return [*problems, _from_error(report, "run", kernel)]
    return problems + _from_verification(kernel, result)


def _check_parameters(kernel: Any) -> list[Problem]:
    location = kernel.prim_func.location
    found = []
    for parameter in kernel.params:
        if not parameter.get("is_used", True):
            text = f"parameter '{parameter['name']}' of '{kernel.name}' is never used"
            found.append(_at(location, "warning", "unused", text, kernel))
    return found


def _check_limits(kernel: Any, archs: tuple[str, ...], is_asked: bool) -> list[Problem]:
    """What architectures refuse. A kernel that some take is an error only where one was named."""
    refused: dict[str, TilewrightError] = {}
    for arch in archs:
        try:
            kernel._compiled(arch)
        except Exception as error:
            report = as_report(error)
            if report is None:
                raise
            refused[arch] = report
    level = "error" if is_asked or len(refused) == len(archs) else "warning"
    grouped: dict[str, list[str]] = {}
    for arch, report in refused.items():
        grouped.setdefault(str(report), []).append(arch)
    return [
        _from_error(refused[names[0]], "limits", kernel, level, tuple(names))
        for names in grouped.values()
    ]


def _from_verification(kernel: Any, result: Any) -> list[Problem]:
    from tilewright.runtime.findings import headline, location_of, notes_of

    problems = []
    for finding in [*result.findings, *result.notes]:
        level = "note" if finding["severity"] == "note" else "error"
        rule = finding["kind"] if finding["kind"] != "error" else "run"
        location = location_of(finding) or kernel.prim_func.location
        engine = (finding["engine"],) if "engine" in finding else ()
        problem = _at(location, level, rule, headline(finding), kernel, notes_of(finding))
        problem.engines = engine
        problems.append(problem)
    for difference in result.differences:
        problem = _at(kernel.prim_func.location, "error", "difference", str(difference), kernel)
        problem.engines = (difference.engine,)
        problems.append(problem)
    return problems


def _at(
    location: Location | None,
    level: str,
    rule: str,
    message: str,
    kernel: Any = None,
    notes: Any = (),
) -> Problem:
    text = render(level, message, location, notes)
    file, line, column = (location.file, location.line, location.column) if location else ("", 0, 0)
    return Problem(
        level, rule, message, file, line, column, kernel.name if kernel else "", (), text
    )


def _from_error(
    error: TilewrightError,
    rule: str,
    kernel: Any = None,
    level: str = "error",
    engines: tuple[str, ...] = (),
) -> Problem:
    location = error.location or (kernel.prim_func.location if kernel else None)
    notes = list(error.notes)
    if level == "warning":
        notes.append(Note(None, f"refused by {', '.join(engines)}; others take it"))
    problem = _at(location, level, rule, error.message, kernel, notes)
    problem.engines = engines
    return problem


# ---- Writing ----


def _write(options: argparse.Namespace, kernels: list[Any], problems: list[Problem]) -> None:
    if options.format == "json":
        text = json.dumps(_as_json(options, kernels, problems), indent=2)
    elif options.format == "sarif":
        from tilewright.cli.sarif import as_sarif

        text = json.dumps(as_sarif(problems, RULES), indent=2)
    else:
        text = _as_text(options, problems)
    if options.output:
        Path(options.output).write_text(text + "\n", encoding="utf-8")
    elif text:
        print(text)
    if not options.quiet:
        say(_summary(kernels, problems, options))


def _as_text(options: argparse.Namespace, problems: list[Problem]) -> str:
    from tilewright.support.colour import paint

    shown = [p for p in problems if p.level != "note" or options.verbose]
    text = "\n".join(problem.text for problem in shown)
    return text if options.output else paint(text, sys.stdout)


def _as_json(
    options: argparse.Namespace, kernels: list[Any], problems: list[Problem]
) -> dict[str, Any]:
    return {
        "script": options.file,
        "kernels": [kernel.name for kernel in kernels],
        "problems": [{**asdict(problem), "file": problem.short_file} for problem in problems],
    }


def _summary(kernels: list[Any], problems: list[Problem], options: argparse.Namespace) -> str:
    counts = {
        level: sum(p.level == level for p in problems) for level in ("error", "warning", "note")
    }
    parts = [f"{count} {level}{'' if count == 1 else 's'}" for level, count in counts.items()]
    how = "compiled" if options.static else "compiled and run"
    plural = "" if len(kernels) == 1 else "s"
    return f"tw: {len(kernels)} kernel{plural} {how}: {', '.join(parts)}"
