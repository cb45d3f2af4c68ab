"""The version of this package, with the commit: `0.1.0+g8ccd2ca1b2c3`.

pyproject.toml and CMakeLists.txt name the same release. An installed package has a module `commit`,
which CMake wrote; a checkout asks Git, when the version is first used.
"""

from __future__ import annotations

RELEASE = "0.1.0"


def find_commit() -> str:
    """The commit of this package, with `-dirty` if files differ from it; empty if unknown."""
    try:
        from tilewright.support.commit import COMMIT  # type: ignore[import-not-found]
    except ModuleNotFoundError:
        return _ask_git()
    return COMMIT


def _ask_git() -> str:
    import subprocess
    from pathlib import Path

    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():  # a copy of the sources in somebody else's repository
        return ""
    command = ("git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
    try:
        answer = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return answer.stdout.strip()


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    commit = find_commit().replace("-", ".")
    globals()[name] = version = f"{RELEASE}+g{commit}" if commit else RELEASE
    return version
