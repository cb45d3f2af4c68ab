"""Arguments and dispatch of `tw`."""

from __future__ import annotations

import argparse
import os
import sys

from tilewright import __version__
from tilewright.device import ARCHS, place
from tilewright.errors import TilewrightError

EXAMPLE = """\
examples:
  tw run examples/seed/flash_attention_backward.py          run an unmodified TileLang script
  tw run script.py --check -- --size 512                    with every check; arguments after --
  tw run -m pytest -- tests/test_ops.py                     the tests of a library for TileLang
  tw compile examples/quickstart.py --arch sm_80 --emit ptx  print the PTX of its kernels
  tw layout "(i, j) -> (i, j ^ (i % 8))" 8 8                show a layout as a table
"""


#: Stages of `tw compile`, as in `kernel.ir`.
EMIT = ("tile", "layouts", "threads", "nvvm", "llvm", "ptx", "cubin", "host", "host-llvm", "asm")


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="tw",
        description="Compile and run TileLang kernels, without a GPU.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tilewright {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

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
        "--check", action="store_true", help="run on the interpreter; its findings are errors"
    )
    run.add_argument(
        "--bounds",
        action="store_true",
        help="run on the interpreter; carry error radii with every float",
    )

    compile_ = commands.add_parser(
        "compile",
        help="print what the kernels of a script compile to",
        epilog="example: tw compile examples/quickstart.py --arch sm_90 --emit ptx",
    )
    _add_script_options(compile_)
    compile_.add_argument(
        "--emit",
        choices=EMIT,
        default="tile",
        help="how far to go. For a GPU: tile IR, layouts, the code of a thread, its NVVM and LLVM "
        "IR, PTX, machine code by ptxas. For the CPU: loops and vectors, LLVM IR, assembly",
    )
    compile_.add_argument(
        "--divisible",
        metavar="SYMBOLS",
        type=lambda names: names.split(","),
        default=[],
        help="shape symbols, by commas, that 16 divides: the code of calls for which that is so",
    )
    compile_.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write there instead; for a cubin, KERNEL.cubin without it",
    )

    layout = commands.add_parser(
        "layout",
        help="show a layout as a table",
        epilog='example: tw layout "(i, j) -> (i, j ^ (i %% 8))" 8 8',
    )
    layout.add_argument("expression", help='e.g. "(i, j) -> (i, j ^ (i %% 8))"')
    layout.add_argument("shape", type=int, nargs="+", help="the extents of the indices")
    return parser


def _add_script_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="a Python script")
    parser.add_argument(
        "--device",
        help="where kernels run: cuda:0 (the default with a GPU), cpu (without), interp, "
        "vgpu:sm_80, vgpu:sm_90",
    )
    parser.add_argument(
        "--arch", choices=ARCHS, help="the architecture to compile for, and of device queries"
    )
    parser.add_argument("--dump-ir", action="store_true", help="print the tile IR of each kernel")
    parser.add_argument(
        "--dump-ir-after", metavar="PASS", help="print the IR of each kernel after a pass"
    )


def main(arguments: list[str]) -> int:
    """Runs `tw` with these arguments; its exit status."""
    script_arguments: list[str] = []
    if "--" in arguments:
        split = arguments.index("--")
        arguments, script_arguments = arguments[:split], arguments[split + 1 :]
    options = make_parser().parse_args(arguments)
    if options.command == "layout":
        from tilewright.cli.layout import show_layout

        return show_layout(options.expression, options.shape)
    if options.device:
        try:
            place("auto", options.device)
        except TilewrightError as error:
            print(f"tw: {error}", file=sys.stderr)
            return 2
        os.environ["TILEWRIGHT_DEVICE"] = options.device
    elif getattr(options, "check", False) or getattr(options, "bounds", False):
        os.environ.setdefault("TILEWRIGHT_DEVICE", "interp")  # only it checks, and carries radii
    if options.arch:
        os.environ["TILEWRIGHT_ARCH"] = options.arch
    from tilewright.cli.run import run_script

    try:
        return run_script(options, script_arguments)
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        print("tw: interrupted", file=sys.stderr)
        return 130  # as a shell has it
