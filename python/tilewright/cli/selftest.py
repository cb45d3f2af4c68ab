"""`tw selftest`: runs programs on a device against the interpreter, and writes one file to send us.

    tw selftest --device cuda:0 -o tilewright-selftest.json

Parts: the `corpus` of bugs of other compilers, the `seed` kernel, the `examples`, `random` programs
of the fuzzer, and `times`, measured beside those that the cost model predicts. The first four are
files of the repository (`--root`); what is not there is skipped and said so. Each program runs in a
process of its own (random ones in chunks): a GPU that has faulted once is of no use to the process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

#: The parts, in the order in which they run.
PARTS = ("corpus", "seed", "examples", "random", "times")

#: The version of the file's schema.
SCHEMA = 1

#: Seconds that one program, or a chunk of random ones, may take.
PATIENCE = 600

#: Random programs of each kind: in all, and in a quick run.
RANDOM = {"tiles": (400, 6), "pipelines": (400, 6), "threads": (100, 4)}

#: Kernels that are timed: of times_kernels.py, with sizes for a GPU and for a quick run.
TIMES: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
    ("add", {"n": 1 << 26}, {"n": 1 << 12}),
    ("gemm", {"m": 4096, "block_n": 128, "stages": 3}, {"m": 256, "block_n": 128, "stages": 3}),
    ("gemm", {"m": 8192, "block_n": 128, "stages": 3}, {"m": 256, "block_n": 128, "stages": 2}),
    ("gemm", {"m": 8192, "block_n": 64, "stages": 2}, {"m": 256, "block_n": 64, "stages": 2}),
    ("softmax", {"rows": 8192, "columns": 4096}, {"rows": 64, "columns": 256}),
    (
        "attention",
        {"heads": 64, "length": 4096, "block": 128},
        {"heads": 1, "length": 256, "block": 128},
    ),
    (
        "attention",
        {"heads": 64, "length": 4096, "block": 64},
        {"heads": 1, "length": 256, "block": 64},
    ),
)


def run_selftest(options: Any) -> int:
    """Runs the parts and writes the file; the exit status is 1 if something differs."""
    from tilewright.runtime.device import place
    from tilewright.support.errors import TilewrightError

    if options.worker:
        return _work(options)
    try:
        device = place("auto", options.device).device
    except TilewrightError as error:
        print(f"tw: error: {error}", file=sys.stderr)
        return 2
    root = find_root(options.root)
    results: list[dict[str, Any]] = []
    began = time.time()
    for part in options.part or PARTS:
        for result in _run_part(part, device, root, options):
            results.append(result)
            _say(result, options)
    data = {
        "schema": SCHEMA,
        **_machine(device),
        "is_quick": bool(options.quick),
        "repository": root is not None,
        "seconds": round(time.time() - began, 1),
        "summary": dict(Counter(result["status"] for result in results)),
        "results": results,
    }
    Path(options.output).write_text(json.dumps(data, indent=1))
    wrong = [result for result in results if result["status"] in ("wrong", "crash")]
    times = [result for result in results if result.get("predicted_ms")]
    print(summary(data))
    if times:
        print(times_table(times))
    print(f"wrote '{options.output}'; please send it to us")
    return 1 if wrong else 0


def summary(data: dict[str, Any]) -> str:
    """One line: "412 right, 1 wrong on NVIDIA H100 (cuda:0)"."""
    order = ("right", "wrong", "crash", "refused", "skipped", "timed")
    counts = [f"{data['summary'][name]} {name}" for name in order if data["summary"].get(name)]
    return f"{', '.join(counts)} on {data['gpu'] or 'no GPU'} ({data['device']})"


def times_table(times: list[dict[str, Any]]) -> str:
    """Measured and predicted milliseconds."""
    lines = [f"{'kernel':44} {'measured':>10} {'predicted':>10} {'ratio':>6}"]
    for entry in times:
        ratio = entry["predicted_ms"] / entry["measured_ms"] if entry["measured_ms"] else 0.0
        lines.append(
            f"{entry['name']:44} {entry['measured_ms']:>10.4g} {entry['predicted_ms']:>10.4g} "
            f"{ratio:>6.2f}"
        )
    return "\n".join(lines)


def find_root(given: str | None) -> Path | None:
    """The repository: that of `--root`, the one this file is in, or the current folder."""
    candidates = [Path(given)] if given else [Path(__file__).resolve().parents[3], Path.cwd()]
    for folder in candidates:
        if (folder / "test" / "programs" / "corpus").is_dir():
            return folder.resolve()
    return None


def _machine(device: str) -> dict[str, Any]:
    """What a reader of the file must know of the machine."""
    import platform

    from tilewright.runtime.device import gpus, place
    from tilewright.runtime.ptxas import find_ptxas
    from tilewright.support.version import __version__

    found, reason = gpus()
    number = int(device.partition(":")[2]) if device.startswith("cuda:") else -1
    gpu = found[number].name if 0 <= number < len(found) else ""
    return {
        "tilewright": __version__,
        "device": device,
        "arch": place("auto", device).arch,
        "gpu": gpu,
        "gpus": [list(entry) for entry in found],
        "driver": _driver() if found else reason,
        "ptxas": find_ptxas() is not None,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processors": os.cpu_count(),
    }


def _driver() -> str:
    """What nvidia-smi says of driver, clocks and power, where it is installed."""
    query = "driver_version,clocks.max.sm,power.limit,memory.total"
    command = ["nvidia-smi", f"--query-gpu={query}", "--format=csv"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        return found.stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return "no nvidia-smi"


def _say(result: dict[str, Any], options: Any) -> None:
    if options.quiet and result["status"] in ("right", "timed", "skipped"):
        return
    text = f"{result['status']:8} {result['part']} {result['name']}"
    if result.get("message"):
        text += f": {result['message'].splitlines()[0]}"
    print(text, flush=True)


# ---- The programs ----


def _run_part(part: str, device: str, root: Path | None, options: Any) -> Iterator[dict[str, Any]]:
    if root is None and part != "times":
        message = "these programs are files of the repository; name it with --root"
        yield {"part": part, "name": "all", "status": "skipped", "message": message}
        return
    for name in _programs(part, root, options):
        yield from _in_process(part, name, device, root, options)


def _programs(part: str, root: Path | None, options: Any) -> Iterator[str]:
    """The names of the programs of a part; a quick run takes every tenth."""
    step = 10 if options.quick else 1
    if part == "times":
        yield from map(str, range(len(TIMES)))
    elif part == "random":
        for kind, (all_of_them, few) in RANDOM.items():
            count = few if options.quick else all_of_them
            for start in range(0, count, 50):
                yield f"{kind}:{start}:{min(start + 50, count)}"
    elif part == "seed":
        yield "examples/seed/flash_attention_backward.py"
    else:
        assert root is not None
        folder = root / ("test/programs/corpus" if part == "corpus" else "examples")
        for path in sorted(folder.glob("*.py"))[::step]:
            yield str(path.relative_to(root))


def _in_process(
    part: str, name: str, device: str, root: Path | None, options: Any
) -> Iterator[dict[str, Any]]:
    """Results of one process, which prints a line of JSON for each."""
    command = [sys.executable, "-m", "tilewright", "selftest", "--worker", f"{part}={name}"]
    command += ["--device", device, *(["--root", str(root)] if root else [])]
    command += ["--quick"] if options.quick else []
    environment = {**os.environ, "TILEWRIGHT_DEVICE": device, "MPLBACKEND": "agg"}
    began = time.time()
    crash = ""
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, env=environment, cwd=root,
            check=False,
        )  # fmt: skip
        output = process.stdout
        if process.returncode:
            last = process.stderr.strip().splitlines()[-1:]
            crash = f"the process ended with {process.returncode}: {' '.join(last)}"
    except subprocess.TimeoutExpired as late:
        output = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
        crash = f"no answer within {PATIENCE} seconds"
    for line in output.splitlines():
        if line.startswith(_MARK):
            result = json.loads(line.removeprefix(_MARK))
            yield {"part": part, **result, "seconds": round(time.time() - began, 2)}
    if crash:
        yield {"part": part, "name": name, "status": "crash", "message": crash}


# ---- In the process ----

_MARK = "@selftest "


def _tell(name: str, status: str, message: str = "", **more: Any) -> None:
    entry = {"name": name, "status": status, "message": message, **more}
    print(f"\n{_MARK}{json.dumps(entry)}", flush=True)


def _work(options: Any) -> int:
    part, _, name = options.worker.partition("=")
    root = Path(options.root) if options.root else None
    workers: dict[str, Callable[..., None]] = {
        "corpus": _corpus,
        "seed": _seed,
        "examples": _example,
        "random": _random,
        "times": _time,
    }
    workers[part](name, options.device, root, bool(options.quick))
    return 0


def _verify(name: str, kernel: Any, call: list[Any] | None, device: str) -> None:
    """Tells whether the device gives what the interpreter does."""
    from tilewright.runtime.verify import verify_on

    result = verify_on(kernel, call, [device])
    if result.refused.get(device):
        _tell(name, "refused", result.refused[device])
    else:
        _tell(name, "right" if result else "wrong", "" if result else str(result))


def _corpus(name: str, device: str, root: Path, quick: bool) -> None:
    """A file of the corpus: its own reference decides, as in test_corpus.py."""
    sys.path.insert(0, str(root / "test" / "programs"))
    import numpy as np

    from tilewright.compat import imports
    from tilewright.support.errors import TilewrightError

    imports.install()
    module = _load(root / name)
    if getattr(module, "LARGE", False) and quick:
        return _tell(name, "skipped", "it needs gigabytes")
    try:
        kernel = module.kernel()
        inputs = module.inputs(np.random.default_rng(0))
        returned = kernel(*inputs)
    except TilewrightError as error:
        if module.EXPECT == "ok":
            return _tell(name, "wrong", str(error))
        return _tell(name, "right", "rejected, as it must be")
    if module.EXPECT == "error":
        return _tell(name, "wrong", "the program must be rejected")
    if module.OUT == "return":
        results = tuple(returned) if isinstance(returned, list | tuple) else (returned,)
    else:
        results = tuple(inputs[position] for position in module.OUT)
    expected = module.reference(*module.inputs(np.random.default_rng(0)))
    for got, want in zip(results, expected, strict=True):
        rtol, atol = module.TOLERANCE or (0.0, 0.0)
        want = np.asarray(want)
        same = want.astype(got.dtype) if module.TOLERANCE == 0 else want
        if not np.allclose(got, same, rtol=rtol, atol=atol, equal_nan=True):
            return _tell(name, "wrong", "the values differ from the file's reference")
    return _tell(name, "right")


def _load(path: Path) -> Any:
    import importlib.util

    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _seed(name: str, device: str, root: Path, quick: bool) -> None:
    """The seed's kernel at several sizes, against the interpreter."""
    import runpy

    from tilewright.compat import imports

    imports.install()
    make = runpy.run_path(str(root / name))["flashattn_bwd"]
    sizes = [(1, 2, 128, 128, 2)] if quick else [(1, 2, 256, 128, 2), (2, 4, 192, 64, 2)]
    for batch, heads, length, dim, groups in sizes:
        kernel = make(batch, heads, length, dim, groups)
        label = f"{name} {batch} x {heads} x {length} x {dim}, groups of {groups}"
        _verify(label, getattr(kernel, "kernel", kernel), None, device)


def _example(name: str, device: str, root: Path, quick: bool) -> None:
    """Runs the script; then each of its kernels on the arguments of its first call."""
    from tilewright.cli.script import execute, keeping_calls, listening

    kernels: list[Any] = []
    calls: dict[int, list[Any]] = {}

    def listen(event: str, kernel: Any) -> None:
        if event == "compiled":
            kernels.append(kernel)

    with listening(listen), keeping_calls(calls):
        status, _ = execute(str(root / name), [], "__main__")
    if status:
        return _tell(name, "wrong", f"the script ended with {status}")
    if not calls:
        return _tell(name, "right", "it calls no kernel")
    for kernel in kernels:
        if id(kernel) in calls and kernel.placement.device == device:
            _verify(f"{name} {kernel.name}", kernel, calls[id(kernel)], device)
    return None


def _random(name: str, device: str, root: Path, quick: bool) -> None:
    """Programs of the fuzzer, by kind and seeds."""
    sys.path.insert(0, str(root / "test" / "fuzz"))
    from differential.kinds import KINDS  # type: ignore[import-not-found]
    from differential.witnesses import examine  # type: ignore[import-not-found]

    kind, first, last = name.split(":")
    for seed in range(int(first), int(last)):
        label = f"{kind} seed {seed}"
        verdicts = examine(KINDS[kind].generate(seed), [device], assembles=False)
        failure = next((verdict for verdict in verdicts if verdict.is_failure), None)
        if failure is not None:
            _tell(label, "wrong", f"{failure}")
        elif any(verdict.kind in ("refused", "ill-formed") for verdict in verdicts):
            _tell(label, "refused", str(verdicts[0]))
        else:
            _tell(label, "right")


def _time(name: str, device: str, root: Path | None, quick: bool) -> None:
    """Measured beside predicted."""
    import warnings

    import tilewright
    from tilewright.cli import times_kernels

    function, large, small = TIMES[int(name)]
    size = small if quick else large
    label = f"{function} " + ", ".join(f"{key} {value}" for key, value in size.items())
    program = getattr(times_kernels, function)(**size)
    try:
        kernel = tilewright.compile(program, device=device)
    except tilewright.TilewrightError as error:
        return _tell(label, "refused", str(error))
    profiler = kernel.get_profiler()
    inputs = profiler._get_inputs(with_output=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on a virtual GPU both are predicted
        few = {"n_warmup": 1, "n_repeat": 2} if quick else {}
        measured = float(profiler.do_bench(input_tensors=inputs, **few))
    prediction = kernel.predict(*inputs, arch=kernel.placement.arch)
    launch = prediction.launches[0]
    return _tell(
        label,
        "timed",
        measured_ms=measured,
        predicted_ms=prediction.milliseconds,
        machine=prediction.machine,
        limited_by=launch.limited_by,
        cycle=launch.cycle["steps"],
    )
