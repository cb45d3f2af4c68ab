#!/usr/bin/env python3
"""The project's lints, one name each: what `make lint`, `make test` and pre-commit run.

usage: scripts/lint.py [--fix] [NAME...]     no NAME: all quick lints

scripts/lint.py clang-format ruff            two of them
scripts/lint.py --fix                        rewrites what a formatter can (`make format`)
scripts/lint.py clang-tidy                   slow: the C++ files that differ from origin/main
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CPP_SUFFIXES = (".h", ".cpp")


def git(*arguments: str) -> list[str]:
    """The lines `git` prints. Works in a checkout that another user owns, as CI's may be."""
    command = ["git", "-c", "safe.directory=*", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def sources(suffixes: tuple[str, ...], folders: tuple[str, ...] = ()) -> list[str]:
    """Our files with one of `suffixes`, tracked or new, never ignored ones."""
    listed = git("ls-files", "--cached", "--others", "--exclude-standard", *folders)
    return sorted({f for f in listed if f.endswith(suffixes) and (ROOT / f).is_file()})


def changed_cpp() -> list[str]:
    """The .cpp files that are new or differ from origin/main (from HEAD where that is unknown)."""
    known = subprocess.run(
        ["git", "-c", "safe.directory=*", "rev-parse", "-q", "--verify", "origin/main"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    base = "origin/main" if known.returncode == 0 else "HEAD"
    changed = {
        *git("diff", "--name-only", base),
        *git("ls-files", "--others", "--exclude-standard"),
    }
    return [f for f in sources((".cpp",)) if f in changed]


def run(*command: str | Path) -> bool:
    """Runs `command` at the root of the checkout; true when it succeeds."""
    return subprocess.run([str(part) for part in command], cwd=ROOT, check=False).returncode == 0


def clang_format(fix: bool) -> bool:
    files = sources(CPP_SUFFIXES)
    mode = ["-i"] if fix else ["--dry-run", "-Werror"]
    return not files or run("clang-format-22", *mode, *files)


def clang_tidy(fix: bool) -> bool:
    files = changed_cpp()
    mode = ["--fix"] if fix else ["--warnings-as-errors=*"]
    return not files or run("clang-tidy-22", "-p", "build", "--quiet", *mode, *files)


def ruff_tool() -> Path:
    return ROOT / ".venv" / "bin" / "ruff"


def ruff(fix: bool) -> bool:
    return run(ruff_tool(), "check", "--quiet", *(["--fix"] if fix else []), ".")


def ruff_format(fix: bool) -> bool:
    return run(ruff_tool(), "format", "--quiet", *([] if fix else ["--diff"]), ".")


def includes(fix: bool) -> bool:
    del fix  # only a person can mend these
    return run(sys.executable, "scripts/check_includes.py")


def imports(fix: bool) -> bool:
    del fix
    return run(sys.executable, "scripts/check_imports.py")


def passes(fix: bool) -> bool:
    del fix
    return run(sys.executable, "scripts/check_passes.py")


def classes(fix: bool) -> bool:
    del fix
    return run(sys.executable, "scripts/check_classes.py")


def words(fix: bool) -> bool:
    del fix
    return run(sys.executable, "scripts/check_words.py")


def commits(fix: bool) -> bool:
    del fix
    return run(sys.executable, "scripts/check_commits.py")


@dataclass(frozen=True)
class Lint:
    check: Callable[[bool], bool]
    quick: bool = True
    formats: bool = False


LINTS = {
    "clang-format": Lint(clang_format, formats=True),
    "ruff": Lint(ruff),
    "ruff-format": Lint(ruff_format, formats=True),
    "includes": Lint(includes),
    "imports": Lint(imports),
    "passes": Lint(passes),
    "classes": Lint(classes),
    "words": Lint(words),
    "commits": Lint(commits),
    "clang-tidy": Lint(clang_tidy, quick=False),
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fix", action="store_true", help="rewrite the files where a tool can")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(LINTS))
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in LINTS]:
        parser.error(f"unknown lint '{unknown[0]}'; known: {', '.join(LINTS)}")
    os.chdir(ROOT)
    failed = False
    for name in arguments.names or [name for name, lint in LINTS.items() if lint.quick]:
        if not LINTS[name].check(arguments.fix):
            hint = "; `make format` mends it" if LINTS[name].formats else ""
            print(f"lint: '{name}' failed{hint}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
