"""Layout questions of the seed kernel, from the Google Benchmark program LayoutBenchmarks."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from figures import ROOT, Figure

BUDGET_MS = {"BM_SeedQuestions": 10.0, "BM_EnumeratedTile": 0.2}
NAMES = {
    "BM_SeedQuestions": "layout questions of the seed kernel",
    "BM_EnumeratedTile": "injectivity of a 256 x 256 tile by enumeration",
}


def figures() -> Iterator[Figure]:
    build = Path(os.environ.get("TILEWRIGHT_BUILD_DIR", ROOT / "build"))
    program = build / "bin" / "LayoutBenchmarks"
    if not program.exists():
        yield Figure("layout questions", None, "", note=f"'{program}' is not built")
        return
    done = subprocess.run(
        [program, "--benchmark_format=json"], check=True, capture_output=True, text=True
    )
    for entry in json.loads(done.stdout)["benchmarks"]:
        name = entry["name"]
        yield Figure(
            NAMES[name], entry["real_time"], entry["time_unit"], "the budget", BUDGET_MS[name]
        )
