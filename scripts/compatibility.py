#!/usr/bin/env python3
"""Runs the tests of TileLang code bases on Tilewright and writes docs/compatibility.md.

usage: scripts/compatibility.py --python PYTHON --checkouts DIR [--only NAME] [--page]
                                [--survey] [--again STATUS] [--sample N --device DEVICE]

PYTHON (or $TILEWRIGHT_TORCH_PYTHON) is a Python with torch, numpy, ml_dtypes and pytest, of the
version that Tilewright is built for. DIR holds checkouts of the code bases below, under these
names; those that are missing are left out. Results stay in --results (build/compatibility), one
line of JSON a case: a run that was interrupted goes on where it stopped, --fresh starts anew,
--again refused runs those again that were refused, and --page only writes the page from what is
there. Cases run in a random order, by --seed, each in a process of its own.

Each case runs on the CPU; its kernels are then compiled for the architectures of
compat/case_outcome.py. With --survey kernels are only traced and checked, which finds refused
constructs in a fraction of the time. With --sample N, nothing else runs than, on --device, the N
quickest cases of each code base that were right on the CPU.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
HELPERS = ROOT / "scripts" / "compat"


@dataclass(frozen=True)
class CodeBase:
    """A repository whose tests are cases."""

    name: str  # of the folder with its checkout
    repository: str
    tests: tuple[str, ...]  # files and folders for pytest, or scripts
    paths: tuple[str, ...] = (".",)  # of Python
    options: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    are_scripts: bool = False  # functions `run_*` of scripts, which print what they find


CODE_BASES = (
    CodeBase("TileOPs", "tile-ai/TileOPs", ("tests/ops", "tests/kernels"), (".", "src"),
             environment={"TILEWRIGHT_ARCH": "sm_90a"}),
    CodeBase("TileKernels", "deepseek-ai/TileKernels", ("tests",),
             environment={"TILEWRIGHT_ARCH": "sm_90a"}),
    CodeBase("flash-linear-attention", "fla-org/flash-linear-attention",
             ("tests/ops/test_dplr_tilelang.py", "tests/ops/test_backends.py"),
             environment={"FLA_TILELANG": "1", "TRITON_INTERPRET": "1"}),
    CodeBase("tilelang-puzzles", "tile-ai/tilelang-puzzles", ("ans",), are_scripts=True),
    CodeBase("qwen-in-tilelang", "ppppqp/qwen-in-tilelang", ("tests",), (".", "src")),
    CodeBase("tilelang-examples", "tile-ai/tilelang", ("examples",), ("examples",),
             ("--import-mode=prepend",), {"TILEWRIGHT_ARCH": "sm_90a", "TRITON_INTERPRET": "1"}),
    CodeBase("tilelang-tests", "tile-ai/tilelang", ("testing/python",), ("testing/python",),
             ("--import-mode=prepend",),
             {"TILEWRIGHT_ARCH": "sm_90a", "COMPAT_READ_TESTS": "1"}),
)  # fmt: skip


def find_checkout(folder: Path, code_base: CodeBase) -> Path | None:
    """The checkout of a code base: a folder of its name, or of its repository's."""
    for name in (code_base.name, code_base.repository.split("/")[1]):
        if (folder / name).is_dir():
            return folder / name
    return None


def environment(
    code_base: CodeBase, checkout: Path, results: Path, options: argparse.Namespace
) -> dict[str, str]:
    """The environment of a run: Tilewright and the code base on the path, and the device."""
    build = options.build_dir
    paths = [HELPERS, ROOT / "python", build / "python", *(checkout / p for p in code_base.paths)]
    own = os.environ.get("PYTHONPATH", "").split(os.pathsep)  # an older triton for one of them
    own = [path for path in own if path]
    return {
        **os.environ,
        "TILEWRIGHT_CACHE_DIR": str(options.results / "cache"),
        "TILELANG_PRINT_ON_COMPILATION": "0",
        "OMP_NUM_THREADS": "1",  # a pool of threads does not survive a fork
        **code_base.environment,
        "TILEWRIGHT_DEVICE": "interp" if options.survey else options.device,
        "COMPAT_GPU": "" if options.sample or options.survey else "1",
        "COMPAT_SURVEY": "1" if options.survey else "",
        "PYTHONPATH": os.pathsep.join([*own, *map(str, paths)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "COMPAT_RESULTS": str(results),
        "COMPAT_SECONDS": str(options.seconds),
        "COMPAT_SEED": str(options.seed),
        "COMPAT_AGAIN": ",".join(options.again or []),
        "COMPAT_COMMIT": revision(ROOT).split()[0],
    }


def run_pytest(code_base: CodeBase, checkout: Path, env: dict[str, str], python: str) -> None:
    """Runs the tests of a code base under the plugin that records them."""
    command = [
        python, "-m", "pytest", "-p", "cases_plugin", "-p", "no:cacheprovider", "-q", "-s",
        "--continue-on-collection-errors", "--import-mode=importlib", "-W", "ignore",
        "-o", "addopts=", *code_base.options, *code_base.tests,
    ]  # fmt: skip
    subprocess.run(command, cwd=checkout, env=env, check=False)


def run_scripts(code_base: CodeBase, checkout: Path, env: dict[str, str], python: str) -> None:
    """Runs each function `run_*` of the scripts, each in a process of its own."""
    results = Path(env["COMPAT_RESULTS"])
    again = env["COMPAT_AGAIN"].split(",")
    done = {r["case"] for r in read_records(results) if r["status"] not in again}
    for folder in code_base.tests:
        for script in sorted((checkout / folder).glob("*.py")):
            for function in re.findall(r"^def (run_\w+)\(\)", script.read_text(), re.M):
                case = f"{folder}/{script.name}::{function}"
                if case not in done:
                    record = run_script(script, function, env, python)
                    with results.open("a") as file:
                        record["commit"] = env["COMPAT_COMMIT"]
                        file.write(json.dumps({"case": case, **record}) + "\n")
                    print(f"{record['status']:14} {case}", flush=True)


def run_script(script: Path, function: str, env: dict[str, str], python: str) -> dict[str, Any]:
    """The record of one function of a script."""
    command = [python, str(HELPERS / "script_case.py"), str(script), function]
    seconds = int(env["COMPAT_SECONDS"])
    done = subprocess.run(
        command, cwd=script.parent, env=env, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
    )  # fmt: skip
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {"status": "too long", "what": "too long"}
    lines = done.stdout.splitlines()
    try:
        return json.loads(lines[-1])
    except (IndexError, json.JSONDecodeError):
        return {"status": "crash", "what": f"the process ended with {done.returncode}"}


def read_records(results: Path) -> list[dict[str, Any]]:
    """The records of a file, the last one of each case."""
    if not results.exists():
        return []
    records = (json.loads(line) for line in results.read_text().splitlines())
    return list({record["case"]: record for record in records}.values())


def choose_sample(results: Path, sample: Path, count: int) -> list[str]:
    """The cases to run again on another device: the quickest ones that were right."""
    right = [record for record in read_records(results) if record["status"] == "right"]
    right.sort(key=lambda record: record.get("seconds", 0.0))
    cases = [record["case"] for record in right[:count]]
    sample.write_text("\n".join(cases))
    return cases


def revision(checkout: Path) -> str:
    """The commit of a checkout."""
    done = subprocess.run(
        ["git", "-C", str(checkout), "log", "-1", "--format=%h of %cs"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout.strip() or "unknown"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", default=os.environ.get("TILEWRIGHT_TORCH_PYTHON"))
    parser.add_argument("--checkouts", type=Path, help="the folder with the checkouts")
    parser.add_argument("--only", action="append", help="a code base, by its name")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "compatibility")
    parser.add_argument("--build-dir", type=Path, default=ROOT / "build")
    parser.add_argument("--seconds", type=int, default=45, help="of processor time a case may take")
    parser.add_argument("--device", default="cpu", help="of --sample: vgpu:sm_80, for example")
    parser.add_argument("--sample", type=int, default=0, help="how many cases run on --device")
    parser.add_argument("--survey", action="store_true", help="trace and check, run nothing")
    parser.add_argument("--seed", type=int, default=1, help="of the order in which cases run")
    parser.add_argument("--again", action="append", help="a status whose cases run again")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--page", action="store_true", help="write the page and run nothing")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "compatibility.md")
    options = parser.parse_args()
    options.results = options.results.resolve()
    if not options.page and not (options.python and options.checkouts):
        parser.error("--python (or TILEWRIGHT_TORCH_PYTHON) and --checkouts are needed")
    options.results.mkdir(parents=True, exist_ok=True)
    for code_base in CODE_BASES:
        if options.page or (options.only and code_base.name not in options.only):
            continue
        checkout = find_checkout(options.checkouts.resolve(), code_base)
        if checkout is None:
            print(f"{code_base.name}: no checkout, left out")
            continue
        results = options.results / f"{code_base.name}.jsonl"
        chosen = options.results / f"{code_base.name}.sample"
        if options.sample:
            if code_base.are_scripts or not choose_sample(results, chosen, options.sample):
                continue
            results = options.results / f"{code_base.name}.{options.device.partition(':')[0]}.jsonl"
        if options.survey:
            if code_base.are_scripts:
                continue
            results = options.results / f"{code_base.name}.survey.jsonl"
        if options.fresh:
            results.unlink(missing_ok=True)
        (options.results / f"{code_base.name}.revision").write_text(revision(checkout))
        env = environment(code_base, checkout, results, options)
        if options.sample:
            env["COMPAT_CASES"] = str(chosen)
        run = run_scripts if code_base.are_scripts else run_pytest
        run(code_base, checkout, env, options.python)
    sys.path.insert(0, str(HELPERS))
    from page import write_page

    write_page(options.output, options.results, CODE_BASES, read_records)
    return 0


if __name__ == "__main__":
    sys.exit(main())
