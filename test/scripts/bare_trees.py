"""Small Debian systems without LLVM, in which a wheel is installed and tried.

A tree is made by debootstrap once and kept in build-wheel/trees. What runs in it sees its files
only, through chroot in a mount namespace of its own. This needs root, debootstrap and the archive
of Debian.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TREES = ROOT / "build-wheel" / "trees"
ARCHIVE = "http://deb.debian.org/debian"
#: A compiler and CMake are for the tests of exported kernels.
PACKAGES = "python3,python3-venv,gcc,g++,cmake,make,pkg-config"
# Installed beside the wheel; versions of scripts/requirements.txt.
BESIDE = (
    "numpy ml_dtypes rich markdown-it-py mdurl Pygments pytest iniconfig packaging pluggy"
    " hypothesis sortedcontainers mpmath"
).split()


@dataclass(frozen=True)
class Tree:
    """A Debian system below `path`, with a virtual environment /venv that has the wheel."""

    path: Path

    def run(self, command: str, seconds: int = 600) -> subprocess.CompletedProcess:
        """Runs a shell command in the tree's /work."""
        setting = "HOME=/root PATH=/venv/bin:/usr/bin:/bin LC_ALL=C.UTF-8"
        inside = f"cd /work && export {setting} && {command}"
        script = (
            'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" &&'
            ' exec chroot "$1" sh -c "$2"'
        )
        return subprocess.run(
            ["unshare", "--mount", "sh", "-c", script, "sh", str(self.path), inside],
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
            env={},
        )

    def copy(self, name: str) -> None:
        """Puts a file or folder of the checkout into the tree's /work."""
        source, target = ROOT / name, self.path / "work" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, target, ignore=ignored, dirs_exist_ok=True)
        else:
            shutil.copy(source, target)


def make_tree(suite: str, packages: str = PACKAGES, name: str = "") -> Tree:
    """The tree of a Debian suite, called `name`; skips the test where none can be made."""
    path = TREES / (name or suite)
    if not (path / "complete").exists():
        if os.geteuid() != 0:
            pytest.skip("only root can make a Debian tree")
        if shutil.which("debootstrap") is None:
            pytest.skip("debootstrap is not installed (scripts/bootstrap.sh wheel)")
        shutil.rmtree(path, ignore_errors=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        command = [
            "debootstrap",
            "--variant=minbase",
            f"--include={packages}",
            suite,
            str(path),
            ARCHIVE,
        ]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            pytest.skip(f"debootstrap of {suite} failed: {made.stdout.strip().splitlines()[-1]}")
        (path / "complete").touch()
    return Tree(path)


def install(tree: Tree, wheel: Path) -> None:
    """Makes /venv and /work in the tree anew, and installs the wheel without a network."""
    for folder in ("venv", "work", "wheels"):
        shutil.rmtree(tree.path / folder, ignore_errors=True)
    (tree.path / "work").mkdir()
    version = tree.run("/usr/bin/python3 -c 'import sys; print(\"%d.%d\" % sys.version_info[:2])'")
    assert version.returncode == 0, version.stderr
    download(tree.path / "wheels", version.stdout.strip())
    shutil.copy(wheel, tree.path / "wheels")
    done = tree.run(
        "/usr/bin/python3 -m venv /venv && "
        "pip install -q --no-index --find-links /wheels"
        f" /wheels/{wheel.name} pytest hypothesis mpmath"
    )
    assert done.returncode == 0, done.stderr


def download(folder: Path, version: str) -> None:
    """The packages of BESIDE for a version of Python; skips the test where PyPI cannot be read."""
    lines = (ROOT / "scripts" / "requirements.txt").read_text().splitlines()
    pins = [line.split()[0] for line in lines if line.split("==")[0] in BESIDE]
    assert len(pins) == len(BESIDE)
    platforms = (
        "manylinux2014_x86_64",
        "manylinux_2_17_x86_64",
        "manylinux_2_27_x86_64",
        "manylinux_2_28_x86_64",
    )
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:"]
    command += [f"--platform={platform}" for platform in platforms]
    done = subprocess.run(
        [*command, f"--python-version={version}", "-d", str(folder), *pins],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"PyPI's packages cannot be downloaded: {done.stderr.strip().splitlines()[-1]}")
