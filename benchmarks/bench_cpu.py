"""The CPU backend beside numpy and torch: matrix products, attention, kernels bound by memory.

It runs in a Python that has torch: this one, or the one that the environment variable
TILEWRIGHT_TORCH_PYTHON names. Without torch its comparisons are left out. How times are taken, and
what makes a comparison void, stands in cpu_speed/measure.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from figures import Figure

FOLDER = Path(__file__).resolve().parent


def module_paths() -> list[str]:
    """Where another Python finds what this one imports, without this one's libraries."""
    holds = {str(f.parent) for path in sys.path for f in Path(path).glob("*tilewright*")}
    return [
        str(FOLDER),
        *(path for path in sys.path if path in holds and "site-packages" not in path),
    ]


def figures(parts: tuple[str, ...] = ()) -> Iterator[Figure]:
    python = os.environ.get("TILEWRIGHT_TORCH_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import torch"], check=False, capture_output=True).returncode:
        yield Figure("cpu: torch", None, "", note="not installed here; set TILEWRIGHT_TORCH_PYTHON")
    with subprocess.Popen(
        [python, "-m", "cpu_speed", *parts], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(module_paths())},
    ) as process:  # fmt: skip
        for line in process.stdout:
            yield Figure(**json.loads(line))
    if process.returncode:
        raise RuntimeError(f"cpu_speed ended with status {process.returncode}")
