"""Arguments and dispatch of `tw`."""

from __future__ import annotations

import argparse
import os
import sys

from tilewright.runtime.device import ARCHS, DEVICES, place
from tilewright.support.errors import TilewrightError

EXAMPLE = """\
examples:
  tw run examples/seed/flash_attention_backward.py          run an unmodified TileLang script
  tw run script.py --check -- --size 512                    with every check; arguments after --
  tw run -m pytest -- tests/test_ops.py                     the tests of a library for TileLang
  tw check script.py                                        find mistakes, on every architecture
  tw check script.py --format sarif -o tw.sarif             the same for a CI system
  tw compile examples/quickstart.py --arch sm_80 --emit ptx  print the PTX of its kernels
  tw layout "(i, j) -> (i, j ^ (i % 8))" 8 8                show a layout as a table
  tw run script.py --report report.html                     see what the compiler decided
  tw report-diff before.html after.html                     what changed between two reports
  tw doctor                                                 what is installed, what is missing
  tw selftest --device cuda:0                               try this machine's GPU
  eval "$(tw completion bash)"                              completion for this shell
"""


#: Stages of `tw compile`, as in `kernel.ir`.
EMIT = (
    "tile", "layouts", "threads", "nvvm", "llvm", "ptx", "cubin", "host", "host-llvm", "asm",
    "library",
)  # fmt: skip

#: What `tw check` writes.
FORMATS = ("text", "json", "sarif")

SHELLS = ("bash", "zsh", "fish")


class _ShowVersion(argparse.Action):
    """As argparse's own, but the version is looked up only when it is shown."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from tilewright.support.version import __version__

        print(f"tilewright {__version__}")
        parser.exit()


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """With room for the longest command: argparse forgets that commands are indented further."""

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        names = [part.dest for part in self._iter_indented_subactions(action)]
        deepest = self._current_indent + 2 * self._indent_increment
        self._action_max_length = max([self._action_max_length, *(len(n) + deepest for n in names)])


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="tw",
        description="Compile, run and check TileLang kernels, without a GPU.",
        epilog=EXAMPLE,
        formatter_class=_Formatter,
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_run(commands)
    _add_compile(commands)
    _add_check(commands)
    _add_layout(commands)
    _add_report_diff(commands)
    doctor = commands.add_parser(
        "doctor",
        help="show versions, devices, ptxas and the cache, and what is missing",
        epilog="exit status: 0 kernels can run, 1 something needed is missing or broken",
    )
    doctor.add_argument("--json", action="store_true", help="print a list in JSON")
    _add_selftest(commands)
    completion = commands.add_parser(
        "completion",
        help="print a script that completes tw's commands in a shell",
        epilog='example: eval "$(tw completion bash)"',
    )
    completion.add_argument("shell", choices=SHELLS)
    return parser


def _add_run(commands: argparse._SubParsersAction) -> None:
    run = commands.add_parser(
        "run",
        help="run an unmodified TileLang script",
        epilog="example: tw run examples/seed/flash_attention_backward.py",
    )
    _add_script_options(run)
    run.add_argument(
        "-m", dest="is_module", action="store_true", help="'file' is a module, as in 'python -m'"
    )
    run.add_argument(
        "--check",
        action="store_true",
        help="check kernels while they run, on the interpreter or the virtual GPU that --device "
        "names: races, bounds, uninitialised values. Findings are errors",
    )
    run.add_argument(
        "--report",
        metavar="FILE",
        help="write a page (HTML) on all kernels of the script: what was decided at each line, and "
        "what the virtual GPU counts for the arguments of the first call",
    )
    run.add_argument(
        "--bounds",
        action="store_true",
        help="run on the interpreter; carry error radii with every float",
    )


def _add_compile(commands: argparse._SubParsersAction) -> None:
    compile_ = commands.add_parser(
        "compile",
        help="print what the kernels of a script compile to, or write them as a library for C",
        description="Loads the script without its '__main__' part; kernels are compiled, not run.",
        epilog="examples: tw compile examples/quickstart.py --arch sm_90 --emit ptx; "
        "tw compile examples/quickstart.py --emit library -o out/",
    )
    _add_script_options(compile_)
    _add_loading_options(compile_)
    compile_.add_argument(
        "--emit",
        choices=EMIT,
        default="tile",
        help="the stage to print. For a GPU: tile IR, layouts, the code of a thread, its NVVM and "
        "LLVM IR, PTX, machine code by ptxas. For the CPU: loops and vectors, LLVM IR, assembly. "
        "A library: all kernels as SCRIPT.h, .a and .json in the folder of -o",
    )
    compile_.add_argument(
        "--divisible",
        metavar="SYMBOLS",
        type=lambda names: names.split(","),
        default=[],
        help="shape symbols, separated by commas, that are multiples of 16 in every call",
    )
    compile_.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the output file; the default is standard output, and KERNEL.cubin for a cubin. The "
        "folder of a library; the default is the current one",
    )
    library = compile_.add_argument_group("--emit library")
    _add_list(library, "--cpus", "processors: x86-64-v3, x86-64-v4 (both by default), host")
    _add_list(library, "--archs", "architectures of GPUs, as sm_80,sm_90a; none by default")
    _add_list(library, "--formats", "so and o beside the archive; they need a linker")
    library.add_argument(
        "--cubins", action="store_true", help="machine code by ptxas beside the PTX"
    )


def _add_list(group: argparse._ArgumentGroup, option: str, help_: str) -> None:
    group.add_argument(
        option, metavar="LIST", type=lambda names: names.split(","), default=None, help=help_
    )


def _add_check(commands: argparse._SubParsersAction) -> None:
    check = commands.add_parser(
        "check",
        help="find mistakes in the kernels of a script",
        description="Loads the script without its '__main__' part. Each kernel is compiled for "
        "each architecture and run on the interpreter, the CPU and the virtual GPUs, on the "
        "arguments of the script's first call or on made-up ones.",
        epilog="exit status: 0 nothing found, 1 errors, 2 the script could not be checked",
    )
    check.add_argument("file", help="a Python script")
    check.add_argument(
        "--arch", choices=ARCHS, action="append", help="only these architectures; may be repeated"
    )
    check.add_argument("--static", action="store_true", help="compile only; do not run the kernels")
    check.add_argument("--format", choices=FORMATS, default="text", help="how to write the result")
    check.add_argument("-o", "--output", metavar="FILE", help="write the result there")
    _add_loading_options(check)
    _add_loudness(check)


def _add_layout(commands: argparse._SubParsersAction) -> None:
    layout = commands.add_parser(
        "layout",
        help="show a layout as a table, and check it",
        description="Shows where each element is stored. Fails if two elements share an address.",
        epilog='examples: tw layout "(i, j) -> (i, j ^ (i %% 8))" 8 8; '
        'tw layout "(i, j) -> thread 4 * i + j // 2, slot j %% 2" 8 8; '
        'tw layout "(i, j)[n] -> (i * n + j)" 4 8 n=8',
    )
    layout.add_argument("expression", help="in the notation of docs/internals/layouts.md")
    layout.add_argument(
        "shape", nargs="+", help="the extents of the indices; for a symbol its value, as n=8"
    )


def _add_report_diff(commands: argparse._SubParsersAction) -> None:
    diff = commands.add_parser(
        "report-diff",
        help="tell what changed between two reports",
        description="Compares kernels of two reports (tw run --report, kernel.report): decisions, "
        "counters, resources and layouts. Kernels are paired by name, then by order.",
        epilog="exit status: 0 nothing differs, 1 something does, 2 a file is no report",
    )
    diff.add_argument("before", help="a report: a page, or JSON of kernel.report_data()")
    diff.add_argument("after", help="another one")
    diff.add_argument("-o", "--output", metavar="FILE", help="write a page that shows both")


def _add_selftest(commands: argparse._SubParsersAction) -> None:
    selftest = commands.add_parser(
        "selftest",
        help="run programs on a device against the interpreter, and write a file to send us",
        description="Runs the corpus, the seed kernel, the examples and random programs of the "
        "repository on a device, compares them with the interpreter, and measures times beside "
        "those that the cost model predicts.",
        epilog="exit status: 0 all is right, 1 something is wrong, 2 there is no such device",
    )
    selftest.add_argument("--device", default="cuda:0", help="default: cuda:0")
    selftest.add_argument("--root", metavar="DIR", help="the repository with the programs")
    selftest.add_argument(
        "--part", action="append", help="corpus, seed, examples, random or times; may be repeated"
    )
    selftest.add_argument("--quick", action="store_true", help="few programs and small sizes")
    selftest.add_argument(
        "-o", "--output", metavar="FILE", default="tilewright-selftest.json",
        help="default: tilewright-selftest.json",
    )  # fmt: skip
    selftest.add_argument("-q", "--quiet", action="store_true", help="only what is wrong")
    selftest.add_argument("--worker", help=argparse.SUPPRESS)


def _add_loading_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--main", action="store_true", help="run the script's '__main__' part as well"
    )
    parser.add_argument(
        "--call",
        metavar="EXPRESSION",
        action="append",
        default=[],
        help="a kernel of the script to look at, such as 'matmul(512, 512, 64)'; may be repeated",
    )


def _add_loudness(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-q", "--quiet", action="store_true", help="only results and errors")
    group.add_argument("-v", "--verbose", action="store_true", help="also remarks and notes")


def _add_script_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="a Python script")
    parser.add_argument(
        "--device",
        metavar="DEVICE",
        help="where kernels run: cuda:0 (the default with a GPU), cpu (without), interp, "
        "vgpu:sm_80, vgpu:sm_90a and the other architectures",
    )
    parser.add_argument(
        "--arch", choices=ARCHS, help="the architecture to compile for, and of device queries"
    )
    parser.add_argument("--dump-ir", action="store_true", help="print the tile IR of each kernel")
    parser.add_argument(
        "--dump-ir-after", metavar="PASS", help="print the IR of each kernel after a pass"
    )
    _add_loudness(parser)


def main(arguments: list[str]) -> int:
    """Runs `tw` with these arguments; its exit status."""
    script_arguments: list[str] = []
    if "--" in arguments:
        split = arguments.index("--")
        arguments, script_arguments = arguments[:split], arguments[split + 1 :]
    parser = make_parser()
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        _refuse_words(parser, options, unknown)
    try:
        if options.command is None:
            parser.print_help()
            status = 0
        else:
            status = _dispatch(parser, options, script_arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("tw: interrupted", file=sys.stderr)
        return 130  # as a shell has it
    return status


def _refuse_words(
    parser: argparse.ArgumentParser, options: argparse.Namespace, unknown: list[str]
) -> None:
    """Words that are no options of ours may be meant for the script, which takes its own after
    `--`."""
    words = " ".join(unknown)
    text = f"unrecognized arguments: {words}"
    if file := getattr(options, "file", None):
        text += f" (a script takes its own after '--': tw {options.command} {file} -- {words})"
    parser.error(text)


def _dispatch(
    parser: argparse.ArgumentParser, options: argparse.Namespace, script_arguments: list[str]
) -> int:
    from tilewright.support import waiting

    waiting.is_told, waiting.is_quiet = True, getattr(options, "quiet", False)
    if options.command == "layout":
        from tilewright.cli.layout import show_layout

        return show_layout(options.expression, options.shape)
    if options.command == "doctor":
        from tilewright.cli.doctor import show_report

        return show_report(options.json)
    if options.command == "selftest":
        from tilewright.cli.selftest import PARTS, run_selftest

        if unknown := [part for part in options.part or () if part not in PARTS]:
            parser.error(f"--part: '{unknown[0]}' is none of {', '.join(PARTS)}")
        return run_selftest(options)
    if options.command == "report-diff":
        from tilewright.cli.report import show_difference

        return show_difference(options.before, options.after, options.output)
    if options.command == "completion":
        from tilewright.cli.completion import show_completion

        return show_completion(parser, options.shell)
    if options.command == "check":
        from tilewright.cli.check import check_script

        return check_script(options, script_arguments)
    from tilewright.cli.run import compile_script, run_script

    run = run_script if options.command == "run" else compile_script
    names = ("TILEWRIGHT_DEVICE", "TILEWRIGHT_ARCH")
    before = {name: os.environ.get(name) for name in names}
    try:
        problem = _choose_device(options)
        if problem:
            print(f"tw: {problem}", file=sys.stderr)
            return 2
        return run(options, script_arguments)
    finally:  # the command's choice ends with it: a program may call it beside its own kernels
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _choose_device(options: argparse.Namespace) -> str:
    """Puts the choice into the environment, where kernels look; or what is wrong with it."""
    wants = [name for name in ("check", "bounds") if getattr(options, name, False)]
    source = "--device" if options.device else "TILEWRIGHT_DEVICE"
    device = options.device or os.environ.get("TILEWRIGHT_DEVICE")
    if options.device:
        try:
            place("auto", options.device)
        except TilewrightError as error:
            return str(error)
        os.environ["TILEWRIGHT_DEVICE"] = options.device
    elif wants and not device:
        os.environ["TILEWRIGHT_DEVICE"] = device = "interp"
    if options.arch:
        os.environ["TILEWRIGHT_ARCH"] = options.arch
    if "bounds" in wants and device != "interp":
        return f"error: --bounds: only the interpreter carries error radii, {source} is '{device}'"
    if "check" in wants and device is not None and not _has_checks(device):
        watching = ", ".join(name for name in DEVICES if _has_checks(name))
        return (
            f"error: --check: the device '{device}' ({source}) watches nothing; "
            f"use one of {watching}"
        )
    return ""


def _has_checks(device: str) -> bool:
    return device == "interp" or device.startswith("vgpu:")
