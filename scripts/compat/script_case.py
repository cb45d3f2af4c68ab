"""Runs one function of a script as a case: `script_case.py FILE FUNCTION`.

For code bases whose checks are scripts that print what they find. The last line printed is the
record of the case, in JSON.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

from tilewright.compat import imports

imports.install()

from case_outcome import Watcher  # noqa: E402
from failures import describe_failure  # noqa: E402
from gpu_products import AsOnGpu  # noqa: E402


def main(file: str, function: str) -> dict[str, Any]:
    sys.path.insert(0, str(Path(file).resolve().parent.parent))
    watcher = Watcher()
    answers: list[bool] = []
    import torch

    allclose = torch.allclose

    def noting(*args: Any, **kwargs: Any) -> bool:
        answers.append(bool(allclose(*args, **kwargs)))
        return answers[-1]

    torch.allclose = noting
    failures = []
    try:
        spec = importlib.util.spec_from_file_location("script", file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name in vars(module):  # timings are no part of a case
            if name.startswith("bench_"):
                setattr(module, name, lambda *args, **kwargs: None)
        with AsOnGpu():
            getattr(module, function)()
    except Exception as error:
        failures.append(describe_failure(error, file))
    record = watcher.record([], failures)
    if record["status"] == "right" and not all(answers):
        record |= {"status": "wrong", "what": "the results differ"}
    if record["status"] in ("right", "not compared") and os.environ.get("COMPAT_GPU"):
        record["gpu"] = watcher.compile_for_gpus()
    return record


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2])))
