"""Other compilers, run in processes of their own: TileLang, Triton.

They are looked for in the Python that runs the benchmarks, or in the one that
TILEWRIGHT_PEER_PYTHON names. A process of its own, because here `tilelang` means tilewright.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent


def find_peer(package: str) -> str | None:
    """A Python that has the package, or None."""
    python = os.environ.get("TILEWRIGHT_PEER_PYTHON", sys.executable)
    probe = f"import importlib.util as u; raise SystemExit(u.find_spec({package!r}) is None)"
    return python if subprocess.run([python, "-c", probe], check=False).returncode == 0 else None


def ask_peer(python: str, script: str, arch: str, requests: list[dict[str, Any]]) -> Any:
    """What the script of this folder answers to the requests."""
    run = subprocess.run(
        [python, str(FOLDER / script), arch],
        input=json.dumps(requests),
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode != 0:
        last = (run.stderr.strip() or "no message").splitlines()[-1]
        raise RuntimeError(f"{script} failed: {last}")
    return json.loads(run.stdout)
