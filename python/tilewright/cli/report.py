"""`tw run --report` and `tw report-diff`."""

from __future__ import annotations

from typing import Any

from tilewright.cli.script import report_failure, say
from tilewright.support.errors import TilewrightError


def write_report(path: str, kernels: list[Any], calls: dict[int, list[Any]]) -> int:
    """Writes a page on these kernels, each for the arguments of its first call; the exit status."""
    from tilewright.report.page import write_page
    from tilewright.runtime.report import report_kernel

    if not kernels:
        say("tw: error: --report: the script has compiled no kernel")
        return 1
    reports = []
    for kernel in kernels:
        try:
            reports.append(report_kernel(kernel, calls.get(id(kernel))))
        except TilewrightError as error:
            report_failure(error)
    if not reports:
        return 1
    try:
        write_page(path, reports)
    except OSError as error:
        say(f"tw: error: --report: '{path}' cannot be written: {error.strerror}")
        return 1
    names = ", ".join(dict.fromkeys(f"'{report['name']}'" for report in reports))
    say(f"{path}: a report of {names}")
    return 0 if len(reports) == len(kernels) else 1


def _pairs(
    before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Kernels that belong together: of one name, else the next that is left."""
    left = list(after)
    pairs = []
    for report in before:
        named = [other for other in left if other["name"] == report["name"]]
        if named or left:
            other = named[0] if named else left[0]
            left.remove(other)
            pairs.append((report, other))
    return pairs


def show_difference(before: str, after: str, output: str | None) -> int:
    """Prints what changed from one report to the other; the exit status."""
    from tilewright.report.compare import describe
    from tilewright.report.page import read_page, write_page

    try:
        first, second = read_page(before), read_page(after)
    except TilewrightError as error:
        say(f"tw: error: {error}")
        return 2
    pairs = _pairs(first, second)
    differs = len(first) != len(second)
    for a, b in pairs:
        name = f"'{a['name']}'" if a["name"] == b["name"] else f"'{a['name']}' -> '{b['name']}'"
        archs = a["arch"] if a["arch"] == b["arch"] else f"{a['arch']} -> {b['arch']}"
        print(f"kernel {name}, {archs}")
        lines = describe(a, b)
        for line in lines:
            print(f"  {line}")
        differs |= len(lines) > 1 or not lines[0].startswith("no decision")
    if len(first) != len(second):
        print(f"{before} has {len(first)} kernel(s), {after} has {len(second)}")
    if output:
        try:
            write_page(output, [report for pair in pairs for report in pair])
        except OSError as error:
            say(f"tw: error: '{output}' cannot be written: {error.strerror}")
            return 2
        say(f"{output}: a report of both")
    return 1 if differs else 0
